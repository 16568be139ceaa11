// SPDX-License-Identifier: Apache-2.0

extension Dictionary where Key == ByteString {
    @_disfavoredOverload
    public subscript(text: String) -> Value? {
        get { self[ByteString(text)] }
        set { self[ByteString(text)] = newValue }
        _modify { yield &self[ByteString(text)] }
    }

    @_disfavoredOverload
    public subscript(text: String, default value: @autoclosure () -> Value) -> Value {
        get { self[ByteString(text), default: value()] }
        set { self[ByteString(text)] = newValue }
        _modify { yield &self[ByteString(text), default: value()] }
    }

    @discardableResult
    @_disfavoredOverload
    public mutating func removeValue(forKey text: String) -> Value? { removeValue(forKey: ByteString(text)) }

    @discardableResult
    @_disfavoredOverload
    public mutating func updateValue(_ value: Value, forKey text: String) -> Value? {
        updateValue(value, forKey: ByteString(text))
    }
}

extension Dictionary where Key == ByteString {
    @_disfavoredOverload
    public init(uniqueKeysWithValues pairs: some Sequence<(String, Value)>) {
        self.init(uniqueKeysWithValues: pairs.lazy.map { (ByteString($0), $1) })
    }

    @_disfavoredOverload
    public init(
        _ pairs: some Sequence<(String, Value)>, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows {
        try self.init(pairs.lazy.map { (ByteString($0), $1) }, uniquingKeysWith: combine)
    }

    @_disfavoredOverload
    public init<Element>(
        grouping elements: some Sequence<Element>, by key: (Element) throws -> String
    ) rethrows where Value == [Element] {
        try self.init(grouping: elements) { ByteString(try key($0)) }
    }
}

extension Set where Element == ByteString {
    @_disfavoredOverload
    public func contains(_ text: String) -> Bool { contains(ByteString(text)) }

    @discardableResult
    @_disfavoredOverload
    public mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: ByteString) {
        insert(ByteString(text))
    }

    @discardableResult
    @_disfavoredOverload
    public mutating func remove(_ text: String) -> Bool { remove(ByteString(text)) != nil }

    /// Makes a set from a list of texts; duplicates are dropped.
    @_disfavoredOverload
    public init(_ texts: some Sequence<String>) { self.init(texts.lazy.map(ByteString.init(_:))) }

    /// Returns the texts sorted by their bytes.
    public func sortedTexts() -> [String] { sorted().map(\.string) }
}
