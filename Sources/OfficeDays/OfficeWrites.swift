// SPDX-License-Identifier: Apache-2.0

/// One write to a calendar.
public struct OfficeWrite: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case create, update, delete }

    public var kind: Kind
    /// Where it is written: for a deletion, where the event was.
    public var target: OfficeSettings.Target
    /// The event as it should be, or as it was before its deletion.
    public var event: OfficeEvent
}

/// What an action changed.
public struct OfficeWrites: Hashable, Sendable {
    /// What has to be written, in order of the dates. Of an event that moves, the new one comes before the old one
    /// goes.
    public internal(set) var writes: [OfficeWrite] = []
    /// Events that were looked at and are already as they should be.
    public internal(set) var unchanged = 0
    /// Dates whose record changed, for whoever stores them.
    public internal(set) var dates: Set<OfficeDate> = []

    public var isEmpty: Bool { writes.isEmpty }

    /// The writes in batches of at most so many, so that a calendar notifies its readers once for each.
    public func batches(of size: Int) -> [ArraySlice<OfficeWrite>] {
        stride(from: 0, to: writes.count, by: max(1, size)).map { writes[$0..<min($0 + max(1, size), writes.count)] }
    }

    static func += (all: inout OfficeWrites, more: OfficeWrites) {
        all.writes += more.writes
        all.unchanged += more.unchanged
        all.dates.formUnion(more.dates)
    }
}
