// SPDX-License-Identifier: Apache-2.0

import Base

/// An entry of the audit trail that an act asks for; the act adds who did it, when, and in which circle.
struct AuditNote: Sendable {
    let action: AuditAction
    let subject: String
    /// Holds only ids and fixed words: what people wrote, names and secrets do not belong here.
    let detail: JSONValue

    init(_ action: AuditAction, _ subject: String, detail: JSONValue = [:]) {
        (self.action, self.subject, self.detail) = (action, subject, detail)
    }

    /// A change with the names of the fields that changed, in order; nil when none did.
    init?(_ action: AuditAction, _ subject: String, changed: [ByteString: Bool]) {
        let names = changed.filter(\.value).keys.sorted().map(\.string)
        if names.isEmpty { return nil }
        self.init(action, subject, detail: ["fields": .array(names.map(JSONValue.string))])
    }
}

/// What an act came to; it cannot be made without saying what the audit trail notes of it.
struct Done<Value> {
    let value: Value
    let notes: [AuditNote]

    private init(_ value: Value, _ notes: [AuditNote]) { (self.value, self.notes) = (value, notes) }

    init(_ value: Value, noting note: AuditNote) { self.init(value, [note]) }

    /// A change with another one that came along with it; nil when none did.
    init(_ value: Value, noting note: AuditNote, and other: AuditNote?) {
        self.init(value, [note] + (other.map { [$0] } ?? []))
    }

    /// What was there already as it was asked for: nothing is noted.
    static func unchanged(_ value: Value) -> Done { Done(value, []) }

    /// A change that is noted unless it turned out to be none.
    static func changed(_ value: Value, noting note: AuditNote?) -> Done { Done(value, note.map { [$0] } ?? []) }

    /// A change that the audit trail does not keep.
    ///
    /// - Parameter reason: why nobody will look for it there.
    static func unnoted(_ reason: StaticString, _ value: Value) -> Done { Done(value, []) }
}

extension Done<Void> {
    init(noting note: AuditNote) { self.init((), noting: note) }
}
