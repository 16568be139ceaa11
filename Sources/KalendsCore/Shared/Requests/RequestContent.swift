// SPDX-License-Identifier: Apache-2.0

/// What a request's body sets, read field by field; its faults are reported only to callers who may know of them.
package protocol RequestContent: Sendable {
    init()
    var faults: FaultList { get set }
    static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>]
    /// An example of a body.
    static var example: JSONValue { get }
}

extension RequestContent {
    /// Reads a body.
    package init(_ body: JSONValue, _ kinds: ItemKinds) {
        self.init()
        faults = Self.fields(kinds).read(body, into: &self)
    }

    /// The schema of the body for the OpenAPI document.
    package static func schema(_ kinds: ItemKinds) -> JSONSchema { fields(kinds).schema(example: example) }
}

extension Array {
    /// Takes over the fields of a body; returns its faults.
    package func read<Content>(_ body: JSONValue, into content: inout Content) -> FaultList
    where Element == ItemPart<Content> {
        var fields = FieldReader(body)
        for part in self { part.read(&fields, &content) }
        fields.finish()
        return fields.faults
    }

    /// The schema of a body with these fields.
    package func schema<Content>(example: JSONValue) -> JSONSchema where Element == ItemPart<Content> {
        .input(flatMap(\.input), example: example)
    }
}

// Fields of requests that are neither shown nor stored in this form.
extension ItemPart {
    /// A field that `read` takes over.
    package static func taken(
        _ name: String, _ schema: JSONSchema,
        _ read: @escaping @Sendable (_ fields: inout FieldReader, _ content: inout Content) -> Void
    ) -> ItemPart { ItemPart(read: read, input: [.optional(name, schema)]) }

    /// A field that keeps its value when it is missing.
    ///
    /// - Parameters:
    ///   - cleared: the value that null sets; nil when null keeps the value, too.
    ///   - emptyClears: whether an empty text sets it, too; otherwise it keeps the value.
    private static func taken<Value, Part>(
        _ name: String, _ path: Path<Value>, _ type: InputType<Part>, _ set: @escaping @Sendable (Part) -> Value,
        cleared: Value?, emptyClears: Bool = false
    ) -> ItemPart where Value: Sendable {
        taken(name, type.schema) { fields, content in
            if let value = type.read(name, false, &fields) {
                content[keyPath: path] = set(value)
            } else if let cleared, fields.given(name) == .null || emptyClears && fields.given(name) == "" {
                content[keyPath: path] = cleared
            }
        }
    }

    /// A field that keeps its value when it is missing.
    package static func taken<Value>(_ name: String, _ path: Path<Value>, _ type: InputType<Value>) -> ItemPart {
        taken(name, path, type, { $0 }, cleared: nil)
    }

    /// A field that keeps its value when it is missing, and that null sets to the value in `usual`.
    package static func taken<Value: Sendable>(
        _ name: String, _ path: Path<Value>, _ type: InputType<Value>, nullAs usual: Content
    ) -> ItemPart { taken(name, path, type, { $0 }, cleared: usual[keyPath: path]) }

    /// A field that has no value when it is missing or, with a fault, not valid.
    package static func taken<Value>(
        _ name: String, _ path: Path<Value?>, _ type: InputType<Value>, isRequired: Bool = false
    ) -> ItemPart {
        ItemPart(
            read: { fields, content in content[keyPath: path] = type.read(name, isRequired, &fields) },
            input: [JSONSchema.Field(name: name, schema: type.schema, isRequired: isRequired)])
    }

    /// A field that null clears.
    package static func edited<Value>(
        _ name: String, _ path: Path<Edit<Value>>, _ type: InputType<Value>, emptyClears: Bool = false
    ) -> ItemPart { taken(name, path, type, { .set($0) }, cleared: .clear, emptyClears: emptyClears) }

    /// A field that null clears.
    package static func edited<Value: Sendable>(
        _ name: String, _ path: Path<Value?>, _ type: InputType<Value>, emptyClears: Bool = false
    ) -> ItemPart { taken(name, path, type, { $0 }, cleared: .some(nil), emptyClears: emptyClears) }

    /// The options in `config`, as far as they are given.
    static func options<Options: ContentOptions>(_ path: Path<Options>, _ kinds: ItemKinds) -> ItemPart {
        ItemPart(
            read: { fields, content in
                guard let value = fields.value("config") else { return }
                fields.add(content[keyPath: path].update(from: value, kinds))
            }, input: [.optional("config", Options.input(kinds))])
    }

    /// The change of the options in `config`, which may be made more than once.
    static func options<Options: ContentOptions>(
        _ path: Path<(@Sendable (inout Options) -> Void)?>, _ kinds: ItemKinds
    ) -> ItemPart {
        ItemPart(
            read: { fields, content in
                guard let value = fields.value("config") else { return }
                // Whether the value is valid does not depend on what is changed.
                var sample = Options()
                fields.add(sample.update(from: value, kinds))
                content[keyPath: path] = { options in _ = options.update(from: value, kinds) }
            }, input: [.optional("config", Options.input(kinds))])
    }
}
