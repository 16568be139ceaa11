// SPDX-License-Identifier: Apache-2.0

/// An entry of the audit trail that an act asks for; the act adds who did it, when, and in which circle.
struct AuditNote: Sendable {
    let action: AuditAction
    let subject: String
    /// Holds only ids and fixed words; text that people wrote, names and secrets must not be stored here.
    let detail: JSONValue

    init(_ action: AuditAction, _ subject: String, detail: JSONValue = [:]) {
        (self.action, self.subject, self.detail) = (action, subject, detail)
    }

    /// A note with the names of the fields that changed, in order; nil when none changed.
    init?(_ action: AuditAction, _ subject: String, changed: [ByteString: Bool]) {
        let names = changed.filter(\.value).keys.sorted().map(\.string)
        if names.isEmpty { return nil }
        self.init(action, subject, detail: ["fields": .array(names.map(JSONValue.string))])
    }
}

/// The result of an act; it cannot be made without stating what the audit trail notes.
struct ActResult<Value> {
    let value: Value
    let notes: [AuditNote]

    private init(_ value: Value, _ notes: [AuditNote]) { (self.value, self.notes) = (value, notes) }

    init(_ value: Value, noting note: AuditNote) { self.init(value, [note]) }

    /// A change with notes for the other changes that it caused; nil for one that it did not cause.
    init(_ value: Value, noting note: AuditNote, and others: AuditNote?...) {
        self.init(value, [note] + others.compactMap(\.self))
    }

    /// A result without a change; nothing is noted.
    static func unchanged(_ value: Value) -> ActResult { ActResult(value, []) }

    /// A result that is noted with `note`; a nil note means that nothing changed.
    static func changed(_ value: Value, noting note: AuditNote?) -> ActResult {
        ActResult(value, note.map { [$0] } ?? [])
    }

    /// A result whose change is not noted in the audit trail.
    ///
    /// - Parameter reason: why the audit trail does not need it.
    static func unnoted(_ reason: StaticString, _ value: Value) -> ActResult { ActResult(value, []) }
}

extension ActResult<Void> {
    init(noting note: AuditNote) { self.init((), noting: note) }
}
