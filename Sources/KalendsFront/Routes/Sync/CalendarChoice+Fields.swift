// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Connections.CalendarChoice {
    static let body = InputBody(
        .optional("calendarId", .text(8192)),
        .optional(
            "create",
            InputType<String?>(
                Schema.object([.optional("name", .optionalText(200).orNull)]).described(
                    "Creates a calendar, or uses the one that was created earlier.")
            ) { name, _, fields in
                guard let value = fields.value(name) else { return nil }
                var inner = FieldReader(value, at: "/" + name)
                let calendar = inner.text("name", maximum: 200)
                inner.finish()
                fields.add(inner.faults)
                return .some(calendar)
            }),
        .optional(
            "shareWith",
            .flag.described(
                "Whether another connection may write the same circle into the calendar, too; 409 otherwise."),
            or: false),
        example: ["create": ["name": "Our family"]])

    /// Reads the body that chooses a calendar; throws 422 with all faults.
    init(_ body: JSONValue) throws {
        var fields = FieldReader(body)
        let (read, made, sharesIt) = Self.body.values(&fields)
        let (known, new) = (read ?? nil, made ?? nil)
        if known != nil && new != nil {
            fields.fault("create", code: .contradiction, "A calendar is either chosen or made.")
        } else if known == nil, new == nil, !fields.has("calendarId"), !fields.has("create") {
            fields.fault("calendarId", code: .required, "Either this or create is required.")
        }
        try fields.end()
        self.init(known.map { .known($0) } ?? .new(new ?? nil), sharesIt: sharesIt ?? false)
    }
}
