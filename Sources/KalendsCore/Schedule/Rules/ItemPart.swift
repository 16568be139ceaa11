// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Where a form has an option: in a field of its own, in a box of this word among the kinds of items, or nowhere.
package enum FormPlace: Equatable, Sendable {
    case field
    case amongKinds(String)
    case nowhere
}

/// A part of an item's content, mostly one field: how it is read, shown, stored and documented.
package struct ItemPart<Content: Sendable>: Sendable {
    typealias Members = [ByteString: JSONValue]
    package typealias Path<Value> = any WritableKeyPath<Content, Value> & Sendable

    /// Takes over what a request gives; adds a fault for what is not valid.
    package var read: @Sendable (_ fields: inout FieldReader, _ content: inout Content) -> Void = { _, _ in }
    /// Adds the members of the API's form; times have the offset of the clock.
    var show: @Sendable (_ content: Content, _ members: inout Members, _ clock: any TimeZoneRules) -> Void = {
        _, _, _ in
    }
    /// Adds the members of the stored form.
    var store: @Sendable (_ content: Content, _ members: inout Members) -> Void = { _, _ in }
    /// Takes over the stored members; false for members that this version does not understand.
    var restore: @Sendable (_ members: Members, _ content: inout Content) -> Bool = { _, _ in true }
    /// Throws `StoredContent.Fault` for stored values that can be read but that no request could have set.
    var check: @Sendable (_ content: Content) throws -> Void = { _ in }
    /// The fields of this part in requests.
    package var input: [JSONSchema.Field] = []
    /// The fields of this part in responses.
    package var output: [JSONSchema.Field] = []
    /// Where the form of options has it.
    package var place = FormPlace.field

    /// A field that every request has to give.
    static func required<Value>(
        _ name: String, _ path: Path<Value>, _ type: FieldType<Value>
    ) -> ItemPart { field(name, path, type, isRequired: true) }

    /// A field whose default is its value in `Content()`. It is always stored, and rows without it are not understood;
    /// a field that is added later must therefore be an optional one.
    static func given<Value>(
        _ name: String, _ path: Path<Value>, _ type: FieldType<Value>
    ) -> ItemPart { field(name, path, type, isRequired: false) }

    private static func field<Value>(
        _ name: String, _ path: Path<Value>, _ type: FieldType<Value>, isRequired: Bool
    ) -> ItemPart {
        let key = ByteString(name)
        return ItemPart(
            read: { fields, content in
                if let value = type.input.read(name, isRequired, &fields) { content[keyPath: path] = value }
            },
            show: { content, members, clock in members[key] = type.shown(content[keyPath: path], clock) },
            store: { content, members in members[key] = type.stored(content[keyPath: path]) },
            restore: { members, content in
                guard let value = members[key].flatMap(type.restored) else { return false }
                content[keyPath: path] = value
                return true
            },
            check: { try type.check($0[keyPath: path]) },
            input: [JSONSchema.Field(name: name, schema: type.input.schema, isRequired: isRequired)],
            output: [.required(name, type.output)])
    }

    /// A field that may be missing; it is then shown as null and not stored.
    static func optional<Value>(
        _ name: String, _ path: Path<Value?>, _ type: FieldType<Value>
    ) -> ItemPart {
        let key = ByteString(name)
        return ItemPart(
            read: { fields, content in content[keyPath: path] = type.input.read(name, false, &fields) },
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
            input: [.optional(name, type.input.schema)], output: [.required(name, type.output.orNull)])
    }
}

extension ItemPart where Content: ItemContent {
    /// The item's own zone; in responses it is among the members that all items have.
    static var timeZone: ItemPart {
        var part = optional("timeZone", \Content.timeZone, .timeZone)
        part.output = []
        return part
    }
}

extension ItemPart {
    /// `startAt` with `endAt` or `durationMinutes`; without either, the item keeps its duration in whole minutes.
    ///
    /// - Parameter isRequired: whether a request has to give the start; otherwise the start is kept.
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

    /// Joins several parts into one.
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

/// A value that is stored in its parts: JSON with sorted keys, so that equal contents have equal texts.
package protocol StoredInParts: Hashable, Sendable {
    /// Makes a value with the default of each field; required fields are set by their readers.
    init()
    static var parts: [ItemPart<Self>] { get }
}

extension StoredInParts {
    /// Reads the stored form; throws `StorageError` for a form that this version does not understand.
    init(stored text: String) throws {
        guard let value = (try? JSONValue(parsing: text.utf8)).flatMap(Self.init(storedMembers:)) else {
            throw StorageError.unexpectedResult("An item holds something that this version does not understand.")
        }
        self = value
    }

    /// Nil for what this version does not understand.
    init?(storedMembers json: JSONValue) {
        guard let members = json.object else { return nil }
        self.init()
        let parts = Self.parts
        // By place: each part that is copied costs a dozen reference counts, and whole circles are read.
        for index in parts.indices where !parts[index].restore(members, &self) { return nil }
    }

    /// The members of the API's form; times have the offset of the clock.
    func shown(on clock: any TimeZoneRules) -> [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = [:]
        for part in Self.parts { part.show(self, &members, clock) }
        return members
    }

    /// Throws `StoredContent.Fault` when stored values can be read but no request could have set them.
    func check() throws { for part in Self.parts { try part.check(self) } }

    package func stored() throws -> String { try JSONValue.object(storedMembers).text() }

    var storedMembers: [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = [:]
        let parts = Self.parts
        for position in parts.indices { parts[position].store(self, &members) }
        return members
    }
}
