// SPDX-License-Identifier: Apache-2.0

/// Decodes the elements of a list, one after the other.
struct ElementDecoder: UnkeyedDecodingContainer {
    private let items: [JSONValue]
    private let path: DecodingPath?
    private(set) var currentIndex = 0

    init(_ items: [JSONValue], at path: DecodingPath?) {
        self.items = items
        self.path = path
    }

    var codingPath: [any CodingKey] { DecodingPath.keys(of: path) }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex == items.count }

    mutating func decodeNil() throws -> Bool {
        guard try next(Never.self).value.isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try take(type) { decoder in try decoder.decode(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try take(KeyedDecodingContainer<Nested>.self) { decoder in try decoder.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take((any UnkeyedDecodingContainer).self) { decoder in try decoder.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try take((any Decoder).self) { decoder in decoder } }

    /// Reads the next element, and advances past it on success.
    private mutating func take<Result>(
        _ type: any Any.Type, _ read: (ValueDecoder) throws -> Result
    ) throws -> Result {
        let result = try read(try next(type))
        currentIndex += 1
        return result
    }

    private func next(_ type: any Any.Type) throws -> ValueDecoder {
        let place = DecodingPath(path, ElementKey(currentIndex))
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: DecodingPath.keys(of: place), debugDescription: "The list ends before this element."))
        }
        return ValueDecoder(items[currentIndex], at: place)
    }
}
