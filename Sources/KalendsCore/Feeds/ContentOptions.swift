// SPDX-License-Identifier: Apache-2.0

import ICalBridge
package import Storage

/// The options that say what a feed or a connection shows, each of them described once.
package protocol ContentOptions: Hashable, Sendable {
    /// Creates options that have their defaults.
    init()
    /// The kinds of items that are not shown; in the API there is an option for each kind.
    var hidden: Set<ScheduleItem.Collection> { get set }
    /// The options beside those for kinds, in the order in which they are shown.
    static var parts: [ItemPart<Self>] { get }
    /// The option that shows the items of a kind.
    static func option(for kind: any ItemContent.Type) -> String
}

extension ContentOptions {
    /// Reads the stored form; options that an older version did not store get their defaults.
    ///
    /// Throws `StorageError` if this version does not understand it, because more might be shown than was intended.
    package init(stored text: String, _ kinds: ItemKinds) throws {
        self.init()
        var faults = FaultList()
        update(from: try JSONValue(parsing: text.utf8), kinds, faults: &faults)
        guard let fault = faults.first else { return }
        throw StorageError.unexpectedResult("A stored configuration is not valid at \(fault.pointer).")
    }

    /// Returns the stored form; equal options have equal texts.
    func stored(_ kinds: ItemKinds) throws -> String { try json(kinds).text() }

    /// Updates the options that are given; the pointers of faults begin with `/config`.
    package mutating func update(from value: JSONValue, _ kinds: ItemKinds, faults: inout FaultList) {
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
        faults += fields.faults
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
}

extension ItemPart {
    /// A field that is kept when it is not given, and has no value when null is.
    static func nullable<Value>(_ name: String, _ path: Path<Value?>, _ type: FieldType<Value>) -> ItemPart {
        var part = given(name, path, type.orNull)
        part.read = { fields, content in
            if let value = type.read(name, false, &fields) {
                content[keyPath: path] = value
            } else if fields.given(name) == .null {
                content[keyPath: path] = nil
            }
        }
        return part
    }
}

extension FieldType {
    fileprivate var orNull: FieldType<Value?> {
        FieldType<Value?>(
            read: read, shown: { value, clock in value.map { shown($0, clock) } ?? .null },
            stored: { $0.map(stored) ?? .null }, restored: restored, input: input.orNull, output: output.orNull)
    }

    /// The same type, with a sentence about the field in the API's document.
    func described(_ text: String) -> FieldType {
        var type = self
        (type.input, type.output) = (input.described(text), output.described(text))
        return type
    }
}

extension FieldType<Bool> {
    static var flag: FieldType {
        FieldType(
            read: { name, _, fields in fields.bool(name) }, shown: { value, _ in .bool(value) }, stored: { .bool($0) },
            restored: { $0.bool }, input: .bool, output: .bool)
    }
}

extension FieldType<Int> {
    /// A whole number in a range.
    static func number(_ range: ClosedRange<Int>) -> FieldType {
        FieldType(
            read: { $2.integer($0, in: range, isRequired: $1) }, shown: { value, _ in .integer(value) },
            stored: { .integer($0) }, restored: { $0.integer }, input: .integer(range), output: .integer(range))
    }
}

extension FieldType<[String]> {
    /// The patients whose items are shown, in order of id; without a value, all patients and items without one.
    static var patients: FieldType {
        let schema = JSONSchema.array(of: .identifier, maximum: 1000)
            .described("Null for all patients and for items without one.")
        return FieldType(
            read: { name, _, fields in fields.patientIDs(name) },
            shown: { ids, _ in .array(ids.map(JSONValue.string)) },
            stored: { .array($0.map(JSONValue.string)) }, restored: { $0.list { $0.string } },
            input: schema, output: schema)
    }
}

extension FieldType<String> {
    /// The name of a CSS3 colour.
    static var color: FieldType {
        var type = looseText
        type.read = { name, _, fields in
            guard let text = fields.text(name) else { return nil }
            if let known = CSSColor(text) { return known.name }
            fields.fault(name, code: .notAChoice, "This must be a colour that CSS3 names, such as teal.")
            return nil
        }
        (type.input, type.output) = (.optionalText(100), .optionalText(100))
        return type.described("The name of a CSS3 colour.")
    }
}
