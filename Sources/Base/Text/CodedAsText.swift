// SPDX-License-Identifier: Apache-2.0

/// A value that is encoded as a text, and as a member's name where it is a dictionary's key.
public protocol CodedAsText: Codable, CodingKeyRepresentable {
    /// Reads the text; nil for one that is not of such a value.
    init?(coded text: String)
    var coded: String { get }
}

private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension CodedAsText {
    public init(from decoder: any Decoder) throws {
        guard let value = Self(coded: try decoder.singleValueContainer().decode(String.self)) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "This is not the text of such a value."))
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(coded)
    }

    public var codingKey: any CodingKey { Name(stringValue: coded) }

    public init?(codingKey: some CodingKey) { self.init(coded: codingKey.stringValue) }
}
