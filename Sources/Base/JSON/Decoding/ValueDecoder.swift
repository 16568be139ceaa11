// SPDX-License-Identifier: Apache-2.0

/// Decodes one value of a JSON document.
struct ValueDecoder: Decoder {
    let value: JSONValue
    let path: DecodingPath?

    init(_ value: JSONValue, at path: DecodingPath?) {
        self.value = value
        self.path = path
    }

    var codingPath: [any CodingKey] { DecodingPath.keys(of: path) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch([String: JSONValue].self, "An object") }
        return KeyedDecodingContainer(MemberDecoder<Key>(members, at: path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let items) = value else { throw mismatch([JSONValue].self, "A list") }
        return ElementDecoder(items, at: path)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }

    func decode<Scalar: JSONScalar>(_ type: Scalar.Type) throws -> Scalar {
        if let scalar = Scalar(json: value) { return scalar }
        throw mismatch(type, type.noun)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

    /// The error for a value that is not of the requested kind.
    private func mismatch(_ type: any Any.Type, _ noun: String) -> DecodingError {
        let found = "\(noun) is expected here, but this is \(value.noun)."
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: found)
        switch value {
        case .null: return .valueNotFound(type, context)
        case .integer, .number:
            guard let type = type as? any JSONScalar.Type, !(type is String.Type), !(type is Bool.Type) else {
                return .typeMismatch(type, context)
            }
            return .dataCorrupted(
                DecodingError.Context(codingPath: codingPath, debugDescription: "This number does not fit here."))
        default: return .typeMismatch(type, context)
        }
    }
}

extension JSONValue {
    var isNull: Bool { if case .null = self { true } else { false } }

    fileprivate var noun: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .integer, .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
