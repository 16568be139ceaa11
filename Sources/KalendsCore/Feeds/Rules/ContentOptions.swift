// SPDX-License-Identifier: Apache-2.0

import ICalBridge
package import Storage

/// The options that say what a feed or a connection shows, each of them described once.
package protocol ContentOptions: Hashable, Sendable {
    /// Creates options that have their defaults.
    init()
    /// The kinds of items that are not shown; in the API there is an option for each kind.
    var hidden: Set<ScheduleItem.Collection> { get set }
    /// The options in addition to those for kinds, in the order in which they are shown.
    static var parts: [ItemPart<Self>] { get }
    /// An example of a request that changes some of them.
    static var example: JSONValue { get }
    /// The option that shows the items of a kind.
    static func option(for kind: any ItemContent.Type) -> String
}

extension ContentOptions {
    /// Reads the stored form; options that an older version did not store get their defaults.
    ///
    /// Throws `StorageError` if this version does not understand it, because more might be shown than was intended.
    package init(stored text: String, _ kinds: ItemKinds) throws {
        self.init()
        guard let fault = update(from: try JSONValue(parsing: text.utf8), kinds).first else { return }
        throw StorageError.unexpectedResult("A stored configuration is not valid at \(fault.pointer).")
    }

    /// Returns the stored form; equal options have equal texts.
    func stored(_ kinds: ItemKinds) throws -> String { try json(kinds).text() }

    /// Updates the options that are given.
    ///
    /// - Returns: the faults, whose pointers begin with `/config`.
    mutating func update(from value: JSONValue, _ kinds: ItemKinds) -> FaultList {
        var fields = FieldReader(value, at: "/config")
        for kind in kinds.list {
            switch fields.bool(Self.option(for: kind)) {
            case true?: hidden.remove(kind.collection)
            case false?: hidden.insert(kind.collection)
            case nil: break
            }
        }
        for part in Self.parts { part.read(&fields, &self) }
        fields.finish()
        return fields.faults
    }

    package func json(_ kinds: ItemKinds) -> JSONValue {
        var members: [ByteString: JSONValue] = [:]
        for kind in kinds.list {
            members[ByteString(Self.option(for: kind))] = .bool(!hidden.contains(kind.collection))
        }
        for part in Self.parts { part.store(self, &members) }
        return .object(members)
    }

    /// The options as the API documents them.
    package static func fields(_ kinds: ItemKinds) -> [JSONSchema.Field] {
        kinds.list.map { .required(option(for: $0), .bool) } + parts.flatMap(\.output)
    }

    /// The options that have a field of their own in a form, in its order.
    package static var listed: [JSONSchema.Field] { parts.filter { $0.place == .field }.flatMap(\.output) }

    /// The schema of a request that changes any of the options.
    package static func input(_ kinds: ItemKinds) -> JSONSchema { .change(of: fields(kinds), example: example) }
}

extension ItemPart {
    /// The same option at another place of the form.
    func at(_ place: FormPlace) -> ItemPart {
        var part = self
        part.place = place
        return part
    }

    /// A field that is kept when it is not given, and has no value when null is.
    static func nullable<Value>(_ name: String, _ path: Path<Value?>, _ type: FieldType<Value>) -> ItemPart {
        var part = given(name, path, type.orNull)
        part.read = edited(name, path, type.input).read
        return part
    }
}

extension FieldType {
    fileprivate var orNull: FieldType<Value?> {
        FieldType<Value?>(
            input: InputType(input.schema.orNull) { .some(input.read($0, $1, &$2)) },
            shown: { value, clock in value.map { shown($0, clock) } ?? .null },
            stored: { $0.map(stored) ?? .null }, restored: restored, output: output.orNull)
    }

    /// The same type, with a sentence about the field in the API's document.
    func described(_ text: String) -> FieldType {
        var type = self
        (type.input, type.output) = (input.described(text), output.described(text))
        return type
    }
}

extension FieldType<[String]> {
    /// The patients whose items are shown, in order of id; without a value, all patients and items without one.
    static var patients: FieldType {
        let schema = JSONSchema.array(of: .identifier, maximum: 1000)
            .described("Null for all patients and for items without one.")
        return FieldType(
            input: InputType.list(
                schema, of: 0...1000, .tooMany, "This must be null or a list of at most 1000 ids.",
                each: (.invalidID, Identifier.rule)
            ) { item in item.string.flatMap { Identifier.isValid($0) ? $0 : nil } }
            .made { Set<ByteString>($0).sortedTexts() },
            shown: { ids, _ in .array(ids.map(JSONValue.string)) },
            stored: { .array($0.map(JSONValue.string)) }, restored: { $0.list { $0.string } }, output: schema)
    }
}

extension FieldType<[String]> {
    /// Origins of pages over https, as browsers write them, each of them once.
    static var origins: FieldType {
        let most = 10
        let schema = JSONSchema.array(of: .string, maximum: most)
            .described("The origins (`https://app.example`) whose pages may show the feed's page in a frame.")
        return FieldType(
            input: InputType.list(
                schema, of: 0...most, .invalid,
                "This must be a list of at most \(most) origins such as https://app.example."
            ) { item in item.string.flatMap { WebOrigin($0)?.text }.flatMap { $0.hasPrefix("https://") ? $0 : nil } }
            .made { Set<ByteString>($0).sortedTexts() },
            shown: { origins, _ in .array(origins.map(JSONValue.string)) },
            stored: { .array($0.map(JSONValue.string)) }, restored: { $0.list { $0.string } }, output: schema)
    }
}

extension FieldType<String> {
    /// The name of a CSS3 colour.
    static var color: FieldType {
        let schema = JSONSchema.optionalText(100)
        let input = InputType.looseText()
            .made(.notAChoice, "This must be a colour that CSS3 names, such as teal.") { CSSColor($0)?.name }
        return words(input.documented(schema), output: schema).described("The name of a CSS3 colour.")
    }
}
