// SPDX-License-Identifier: Apache-2.0

/// Decodes the members of an object.
struct MemberDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: [ByteString: JSONValue]
    private let path: DecodingPath?

    init(_ members: [ByteString: JSONValue], at path: DecodingPath?) {
        self.members = members
        self.path = path
    }

    var codingPath: [any CodingKey] { DecodingPath.keys(of: path) }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0.string) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    func decode<Scalar: JSONScalar>(_ type: Scalar.Type, forKey key: Key) throws -> Scalar {
        let value = try value(key)
        if let scalar = Scalar(json: value) { return scalar }
        // Leave the error to the decoder.
        return try decoder(value, key).decode(type)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(from: decoder(try value(key), key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(try value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(try value(key), key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { superDecoder(SuperKey()) }
    func superDecoder(forKey key: Key) -> any Decoder { superDecoder(key) }

    /// Treats a missing member as null: a class without members of its own has stored nothing.
    private func superDecoder(_ key: any CodingKey) -> any Decoder {
        ValueDecoder(members[key.stringValue] ?? .null, at: DecodingPath(path, key))
    }

    private func value(_ key: Key) throws -> JSONValue {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "This is missing."))
        }
        return value
    }

    private func decoder(_ value: JSONValue, _ key: Key) -> ValueDecoder {
        ValueDecoder(value, at: DecodingPath(path, key))
    }
}
