// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// A part of what an item holds, mostly one field: how it is read, shown, stored and described.
package struct ItemPart<Content: Sendable>: Sendable {
    typealias Members = [ByteString: JSONValue]
    typealias Path<Value> = any WritableKeyPath<Content, Value> & Sendable

    /// Takes over what a request gives; what is wrong with it is a fault.
    var read: @Sendable (_ fields: inout FieldReader, _ content: inout Content) -> Void = { _, _ in }
    /// Adds the members with which the API shows it, times with the offset of a clock.
    var show: @Sendable (_ content: Content, _ members: inout Members, _ clock: any TimeZoneRules) -> Void = {
        _, _, _ in
    }
    /// Adds the members with which it is stored.
    var store: @Sendable (_ content: Content, _ members: inout Members) -> Void = { _, _ in }
    /// Takes over what is stored; false for what this version does not understand.
    var restore: @Sendable (_ members: Members, _ content: inout Content) -> Bool = { _, _ in true }
    /// Throws `StoredContent.Fault` for stored values that can be read and that nobody may have sent.
    var check: @Sendable (_ content: Content) throws -> Void = { _ in }
    /// What a request may give of it.
    var input: [JSONSchema.Field] = []
    /// What an answer holds of it.
    var output: [JSONSchema.Field] = []

    /// A field that every request has to give.
    static func required<Value>(
        _ name: String, _ path: Path<Value>, _ type: FieldType<Value>
    ) -> ItemPart { field(name, path, type, isRequired: true) }

    /// A field that has the value of `Content()` when a request does not give it. It is always stored, so that rows
    /// without it are not understood: a field that is added later is an optional one.
    static func given<Value>(
        _ name: String, _ path: Path<Value>, _ type: FieldType<Value>
    ) -> ItemPart { field(name, path, type, isRequired: false) }

    private static func field<Value>(
        _ name: String, _ path: Path<Value>, _ type: FieldType<Value>, isRequired: Bool
    ) -> ItemPart {
        let key = ByteString(name)
        return ItemPart(
            read: { fields, content in
                if let value = type.read(name, isRequired, &fields) { content[keyPath: path] = value }
            },
            show: { content, members, clock in members[key] = type.shown(content[keyPath: path], clock) },
            store: { content, members in members[key] = type.stored(content[keyPath: path]) },
            restore: { members, content in
                guard let value = members[key].flatMap(type.restored) else { return false }
                content[keyPath: path] = value
                return true
            },
            check: { try type.check($0[keyPath: path]) },
            input: [JSONSchema.Field(name: name, schema: type.input, isRequired: isRequired)],
            output: [.required(name, type.output)])
    }

    /// A field that may be missing: shown as null, and not stored then.
    static func optional<Value>(
        _ name: String, _ path: Path<Value?>, _ type: FieldType<Value>
    ) -> ItemPart {
        let key = ByteString(name)
        return ItemPart(
            read: { fields, content in content[keyPath: path] = type.read(name, false, &fields) },
            show: { content, members, clock in
                members[key] = content[keyPath: path].map { type.shown($0, clock) } ?? .null
            },
            store: { content, members in
                if let value = content[keyPath: path] { members[key] = type.stored(value) }
            },
            restore: { members, content in
                guard let json = members[key], json != .null else {
                    content[keyPath: path] = nil
                    return true
                }
                content[keyPath: path] = type.restored(json)
                return content[keyPath: path] != nil
            },
            check: { content in if let value = content[keyPath: path] { try type.check(value) } },
            input: [.optional(name, type.input)], output: [.required(name, type.output.orNull)])
    }
}

extension ItemPart where Content: ItemContent {
    /// The item's own zone, which answers hold among what all items have.
    static var timeZone: ItemPart {
        var part = optional("timeZone", \Content.timeZone, .timeZone)
        part.output = []
        return part
    }
}

extension ItemPart {
    /// `startAt` with `endAt` or `durationMinutes`; without them it takes as many whole minutes as before.
    ///
    /// - Parameter isRequired: whether a request has to give the start, which otherwise is as before.
    static func span(
        _ startPath: Path<Instant>, _ endPath: Path<Instant>, isRequired: Bool
    ) -> ItemPart {
        var part = ItemPart(
            joining: [.required("startAt", startPath, .instant), .required("endAt", endPath, .instant)])
        part.read = { fields, content in
            let minutes = (content[keyPath: endPath].seconds - content[keyPath: startPath].seconds) / 60
            let given = fields.instant("startAt", isRequired: isRequired)
            let end = fields.instant("endAt")
            let duration = fields.integer("durationMinutes", in: FieldType<Int>.durations)
            if end != nil, duration != nil {
                fields.fault("durationMinutes", code: .contradiction, "Give endAt or durationMinutes, not both.")
            }
            guard let start = given ?? (isRequired ? nil : content[keyPath: startPath]) else { return }
            if let end, end <= start { fields.fault("endAt", code: .order, "The end must be after the start.") }
            content[keyPath: startPath] = start
            content[keyPath: endPath] = end ?? start.adding(seconds: (duration ?? minutes) * 60)
        }
        part.input = [
            JSONSchema.Field(name: "startAt", schema: .instant, isRequired: isRequired), .optional("endAt", .instant),
            .optional("durationMinutes", .integer(FieldType<Int>.durations)),
        ]
        return part
    }

    /// Several parts as one.
    init(joining parts: [ItemPart]) {
        self.init(
            read: { fields, content in for part in parts { part.read(&fields, &content) } },
            show: { content, members, clock in for part in parts { part.show(content, &members, clock) } },
            store: { content, members in for part in parts { part.store(content, &members) } },
            restore: { members, content in parts.allSatisfy { $0.restore(members, &content) } },
            check: { content in for part in parts { try part.check(content) } },
            input: parts.flatMap(\.input), output: parts.flatMap(\.output))
    }
}

/// What is stored as its parts are: JSON with its keys in order, so that equal contents are equal texts.
package protocol StoredInParts: Hashable, Sendable {
    /// Each field with what it is when it is not given; what is required is filled in by its reader.
    init()
    static var parts: [ItemPart<Self>] { get }
}

extension StoredInParts {
    /// Reads what is stored; throws `StorageError` for what this version does not understand.
    init(stored text: String) throws {
        self.init()
        guard let members = try? JSONValue(parsing: text.utf8).object,
            Self.parts.allSatisfy({ $0.restore(members, &self) })
        else { throw StorageError.unexpectedResult("An item holds something that this version does not understand.") }
    }

    /// Throws `StoredContent.Fault` when what was stored can be read and is nothing that anybody may have sent.
    func check() throws { for part in Self.parts { try part.check(self) } }

    func stored() throws -> String {
        var members: [ByteString: JSONValue] = [:]
        for part in Self.parts { part.store(self, &members) }
        return try JSONValue.object(members).text()
    }
}
