// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// One write to a calendar.
public struct OfficeWrite: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case create, update, delete }

    public var kind: Kind
    /// The calendar to write to; for a deletion, the calendar that has the event.
    public var target: OfficeSettings.Target
    /// The event as it should be, or as it was before its deletion.
    public var event: OfficeEvent
}

/// The changes that an action made.
public struct OfficeWrites: Hashable, Sendable {
    /// The writes that have to be made, in order of date. When an event moves to another calendar, the new one is
    /// created before the old one is deleted.
    public internal(set) var writes: [OfficeWrite] = []
    /// The number of events that were checked and are already as they should be.
    public internal(set) var unchanged = 0
    /// The dates whose record changed and has to be stored.
    public internal(set) var dates: Set<CivilDate> = []

    public var isEmpty: Bool { writes.isEmpty }

    static func += (all: inout OfficeWrites, more: OfficeWrites) {
        all.writes += more.writes
        all.unchanged += more.unchanged
        all.dates.formUnion(more.dates)
    }
}
