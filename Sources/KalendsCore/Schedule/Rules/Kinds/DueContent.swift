// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// The content of an item that is due at a time, takes some minutes from then on, and is done or not.
package protocol DueContent: ItemContent {
    /// Whether there may be an item without a time.
    static var mayBeUndated: Bool { get }
    /// When it is due; nil for an item without a time.
    var due: Instant? { get }
    var durationMinutes: Int { get set }
    var status: DueStatus { get set }
    var reminders: [Int] { get set }

    /// Sets when it is due; an item that needs a time keeps its own.
    mutating func setDue(_ due: Instant?)
}

/// The state of something to be done.
package enum DueStatus: String, Hashable, Sendable, CaseIterable {
    case open, completed, cancelled
}

extension DueContent {
    package var statusWord: String? { status.rawValue }
    package var isCompleted: Bool { status == .completed }
    package var isCancelled: Bool { status == .cancelled }

    package mutating func move(to span: TimeSpan) throws {
        switch span {
        case .timed(let start, let end, _):
            setDue(start)
            durationMinutes = (end.seconds - start.seconds + 59) / 60
        case .days: throw InboundRefusal("This is due at a time, so it cannot be moved to whole days.")
        }
    }

    package mutating func remind(_ minutes: [Int]) throws { reminders = minutes }
    package mutating func cancel() throws { status = .cancelled }

    /// Returns what calendars show of the item, without whether apps show it as a to-do.
    func dueItem(category: String, label: String?, title: String, in zone: TimeZoneReference) -> CareItem {
        let span = due.map {
            TimeSpan.timed(start: $0, end: $0.adding(seconds: durationMinutes * 60), zone: zone.identifier)
        }
        var item = CareItem(category: category, label: label, title: [title], span: span, availability: .free)
        item.status =
            switch status {
            case .open: .planned
            case .completed: .completed
            case .cancelled: .cancelled
            }
        item.reminders = reminders
        item.notes = notes
        return item
    }
}

extension FieldType<Instant?> {
    /// An instant that has to be given, or null.
    static var instantOrNull: FieldType {
        let type = FieldType<Instant>.instant
        return FieldType(
            input: InputType(type.input.schema.orNull) { name, isRequired, fields in
                fields.isNull(name) ? .some(nil) : type.input.read(name, isRequired, &fields).map(Optional.some)
            },
            shown: { value, clock in value.map { type.shown($0, clock) } ?? .null },
            stored: { $0.map(type.stored) ?? .null },
            restored: { $0 == .null ? .some(nil) : type.restored($0).map(Optional.some) },
            check: { if let value = $0 { try type.check(value) } }, output: type.output.orNull)
    }
}
