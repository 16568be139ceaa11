// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A conflict: what both sides did to the same thing, with every value that either of them typed.
public struct ConflictRecord: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case bothChanged, deletedThere, editedThere, unreadable
    }

    public enum State: String, Hashable, Sendable, Codable, CaseIterable { case open, resolved }

    public enum Outcome: String, Hashable, Sendable, Codable, CaseIterable { case kalends, calendar, both, dismissed }

    /// A field with its three values as text for people; a missing value is nil.
    public struct Field: Hashable, Sendable, Codable {
        public var field: EntryField
        /// The occurrence that has it, where the record concerns several.
        public var occurrence: Instant?
        public var base: String?
        public var kalends: String?
        public var calendar: String?
        public var kept: EditSide
    }

    /// A digest of what it records: the same conflict, seen again after a crash, has the same id.
    public var id: String
    public var item: ItemKey
    /// The occurrence of a series, named by the instant at which it would have begun; the first one of several.
    public var occurrence: Instant?
    /// All occurrences, ascending, where it concerns several: what happened to all of them alike is one conflict, which
    /// a person decides at once.
    public var occurrences: [Instant]?
    public var at: Instant
    public var kind: Kind
    /// Of several occurrences only the first fields, `mostFields` at most.
    public var fields: [Field]
    /// The item's entry when the conflict was seen; nil when the item was gone. For a conflict about occurrences, it
    /// holds the changes of no others.
    public var ours: Entry?
    /// The event's entry when the conflict was seen, likewise; nil when the event was gone or unreadable.
    public var theirs: Entry?
    public var state: State
    /// The outcome; nil while the conflict is open.
    public var outcome: Outcome?
    public var resolvedAt: Instant?

    /// The maximum number of fields in a record about several occurrences, and the approximate maximum size of their
    /// values in bytes.
    public static let mostFields = 100
    static let mostBytes = 64 << 10

    /// The occurrences concerned, ascending; empty for the event as a whole.
    public var starts: [Instant] { occurrences ?? occurrence.map { [$0] } ?? [] }
}

extension [ConflictRecord.Field] {
    /// The first fields, as many as a record about several occurrences has.
    var shortened: [ConflictRecord.Field] {
        var bytes = 0
        return Array(
            prefix(ConflictRecord.mostFields).prefix { field in
                let isFirst = bytes == 0
                bytes += [field.base, field.kalends, field.calendar].reduce(1) { $0 + ($1?.utf8.count ?? 0) }
                return isFirst || bytes <= ConflictRecord.mostBytes
            })
    }
}

extension ConflictRecord {
    /// Returns this record of a deletion without the occurrences that take place again, settled if that is all; nil for
    /// none of them.
    public func without(_ back: [Instant], at now: Instant) -> ConflictRecord? {
        let back = Set(back)
        let rest = starts.filter { !back.contains($0) }
        guard !rest.isEmpty else { return closed(.kalends, at: now) }
        guard rest.count < starts.count else { return nil }
        var record = self
        (record.occurrence, record.occurrences) = (rest[0], rest.count > 1 ? rest : nil)
        let listed = fields.filter { field in field.occurrence.map(rest.contains) ?? true }
        record.fields = (listed + unlisted(rest)).shortened.map { field in
            var field = field
            if rest.count == 1 { field.occurrence = nil }
            return field
        }
        (record.ours, record.theirs) = (ours?.about(rest), theirs?.about(rest))
        return record
    }

    /// Returns the fields of some deleted occurrences that this record does not list, as many as a record has.
    private func unlisted(_ starts: [Instant]) -> [Field] {
        guard kind == .deletedThere, let entry = ours?.canonical else { return [] }
        let listed = Set(fields.compactMap(\.occurrence))
        return starts.filter { !listed.contains($0) }.prefix(Self.mostFields).compactMap { start -> Field? in
            guard let text = entry.effective(at: start)?.span.text else { return nil }
            return Field(
                field: .existence, occurrence: start, base: text, kalends: text, calendar: nil, kept: .kalends)
        }
    }
}

extension Entry {
    /// Returns the entry with the changes of these occurrences only; for no occurrence, the whole entry.
    func about(_ starts: [Instant]) -> Entry {
        guard !starts.isEmpty else { return self }
        var entry = canonical
        let all = entry.occurrences
        entry.occurrences = [:]
        for start in starts { entry.occurrences[start] = all[start] }
        return entry
    }
}
