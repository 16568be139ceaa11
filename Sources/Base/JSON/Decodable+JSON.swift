// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

extension Decodable {
    /// Reads a value from JSON in UTF-8 in the form that `JSONEncoder` writes with its default settings.
    ///
    /// - Throws: `JSONFault`, which names the place unless a number does not fit there, and whatever the type itself throws.
    public init(decodingJSON bytes: some Collection<UInt8>) throws {
        // Foundation's decoder would choose one of two members of the same name, and follow any nesting.
        let value = try JSONValue(parsing: bytes)
        // Nor would it bound the marks, as ours has.
        try self.init(judged: Data(value.hasLongRunOfMarks ? try value.serialized() : Array(bytes)))
    }

    /// Reads a value from parsed JSON; throws the same errors as `init(decodingJSON:)`.
    package init(decoding value: JSONValue) throws { try self.init(judged: Data(try value.serialized())) }

    private init(judged document: Data) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: document)
        } catch let error as DecodingError {
            throw JSONFault(error)
        }
    }
}

extension JSONFault {
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context): self.init(context.codingPath + [key], "This is missing.")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(context.codingPath, "Another kind of value is expected here.")
        case .dataCorrupted(let context): self.init(context.codingPath, "This value does not fit here.")
        @unknown default: self.init(reason: "This cannot be read.")
        }
    }

    private init(_ path: [any CodingKey], _ reason: String) {
        // Foundation calls an element of a list by a name that has its number within.
        let steps = path.map { JSONPointer.step($0.intValue.map(String.init) ?? $0.stringValue) }
        self.init(pointer: steps.joined(), reason: reason)
    }
}
