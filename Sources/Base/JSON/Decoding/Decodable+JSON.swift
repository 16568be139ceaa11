// SPDX-License-Identifier: Apache-2.0

extension Decodable {
    /// Reads a value from JSON in UTF-8 in the form that `JSONEncoder` writes with its default settings.
    ///
    /// The types for which `JSONEncoder` has special forms (`Data`, `Decimal` and `URL`) are not supported.
    ///
    /// - Throws: `JSONFault`, which names the place, and whatever the type itself throws.
    package init(decodingJSON bytes: some Collection<UInt8>) throws {
        try self.init(decoding: try JSONValue(parsing: bytes))
    }

    /// Reads a value from parsed JSON; throws the same errors as `init(decodingJSON:)`.
    package init(decoding value: JSONValue) throws {
        do {
            try self.init(from: ValueDecoder(value, at: nil))
        } catch let error as DecodingError {
            throw JSONFault(error)
        }
    }
}

extension JSONFault {
    fileprivate init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            self.init(path: context.codingPath, context.debugDescription)
        case .keyNotFound(let key, let context):
            self.init(path: context.codingPath + [key], "This is missing.")
        @unknown default: self.init(reason: "This cannot be read.")
        }
    }

    private init(path: [any CodingKey], _ reason: String) {
        self.init(pointer: path.map { JSONPointer.step($0.stringValue) }.joined(), reason: reason)
    }
}
