// SPDX-License-Identifier: Apache-2.0

/// Text that is compared, ordered and hashed by its UTF-8 bytes: the key of every dictionary and set whose keys come
/// from outside, such as ids, tokens and names of a protocol.
///
/// If two `String` keys differ only in how a letter is written, a dictionary keeps one of them.
public struct ByteString: Hashable, Comparable, Sendable {
    public let string: String

    @inlinable
    public init(_ string: String) { self.string = string }

    @inlinable
    public init(_ text: Substring) { self.string = String(text) }

    public static func == (left: ByteString, right: ByteString) -> Bool { left.string.isSameText(as: right.string) }

    public static func < (left: ByteString, right: ByteString) -> Bool { left.string.isTextBefore(right.string) }

    public func hash(into hasher: inout Hasher) { string.hashText(into: &hasher) }
}

extension ByteString: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension ByteString: CustomStringConvertible {
    public var description: String { string }
}

extension ByteString: CodedAsText {
    public init(coded text: String) { self.init(text) }
    public var coded: String { string }
}
