// SPDX-License-Identifier: Apache-2.0

/// A member of a request's body: its name, how it is read, and its schema.
package struct BodyField<Value: Sendable>: Sendable {
    let field: JSONSchema.Field
    /// Nil only together with a fault.
    let read: @Sendable (inout FieldReader) -> Value?

    package static func required(_ name: String, _ type: InputType<Value>) -> BodyField {
        BodyField(field: .required(name, type.schema)) { type.read(name, true, &$0) }
    }

    package static func optional<Part>(_ name: String, _ type: InputType<Part>) -> BodyField where Value == Part? {
        BodyField(field: .optional(name, type.schema)) { .some(type.read(name, false, &$0)) }
    }

    /// A member that null clears.
    package static func edited<Part>(_ name: String, _ type: InputType<Part>) -> BodyField where Value == Edit<Part> {
        BodyField(field: .optional(name, type.schema)) { fields in
            type.read(name, false, &fields).map(Edit.set) ?? (fields.given(name) == .null ? .clear : .keep)
        }
    }

    /// - Parameter usual: the value when the member is missing.
    package static func optional(_ name: String, _ type: InputType<Value>, or usual: Value) -> BodyField {
        BodyField(field: .optional(name, type.schema)) { type.read(name, false, &$0) ?? usual }
    }
}

extension BodyField<Int> {
    /// A whole number in a range; the document names its default.
    package static func number(
        _ name: String, _ range: ClosedRange<Int>, or usual: Int, _ about: String? = nil
    ) -> BodyField {
        let schema = JSONSchema.integer(range).defaulting(to: .integer(usual))
        return optional(name, InputType.number(range).documented(about.map(schema.described) ?? schema), or: usual)
    }
}

/// A request's body, each member of which is described once: for the reader and for the API's document.
package struct InputBody<each Value: Sendable>: Sendable {
    package let schema: JSONSchema
    private let ignored: Set<ByteString>
    private let fields: (repeat BodyField<each Value>)

    /// - Parameters:
    ///   - ignored: the server's own members, which a client may send back.
    ///   - example: what a request would send.
    package init(
        _ fields: repeat BodyField<each Value>, ignoring ignored: Set<ByteString> = [], example: JSONValue
    ) {
        var all: [JSONSchema.Field] = []
        for field in repeat each fields { all.append(field.field) }
        schema = .input(all, example: example)
        self.ignored = ignored
        self.fields = (repeat each fields)
    }

    /// Reads the members; nil for each that is missing or not valid. The caller ends the reading.
    package func values(_ reader: inout FieldReader) -> (repeat (each Value)?) {
        (repeat (each fields).read(&reader))
    }

    /// Reads a body; throws 422 with all faults.
    package func read(_ body: JSONValue) throws -> (repeat each Value) {
        var reader = FieldReader(body)
        let values = values(&reader)
        reader.finish(ignoring: ignored)
        try reader.check()
        func present<Part>(_ value: Part?) throws -> Part {
            guard let value else { throw Refusal.invalid(reader.faults) }
            return value
        }
        return (repeat try present(each values))
    }
}
