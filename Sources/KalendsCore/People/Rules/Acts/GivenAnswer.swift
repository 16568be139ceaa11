// SPDX-License-Identifier: Apache-2.0

/// An answer as it is kept for the same request sent again.
package struct GivenAnswer: Hashable, Sendable {
    package let status: Int
    /// The header fields that the route set, by name.
    package let fields: [Field]
    package let body: String
    /// The import that the request began, whose report is the answer until the import is done; nil for anything else.
    package let importID: String?

    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    package init(status: Int, fields: [Field], body: String, importID: String? = nil) {
        (self.status, self.fields, self.body, self.importID) = (status, fields, body, importID)
    }

    /// The answer and a hash of its request, as one text.
    func stored(with fingerprint: String) throws -> String {
        let json: JSONValue = [
            "request": .string(fingerprint), "status": .integer(status), "body": .string(body),
            "fields": .array(fields.map { [.string($0.name), .string($0.value)] }), "import": JSONValue(importID),
        ]
        return try json.text()
    }

    /// Reads what `stored` made; nil for anything else.
    static func read(_ text: String) -> (answer: GivenAnswer, fingerprint: String)? {
        guard let json = try? JSONValue(parsing: text.utf8), let status = json["status"]?.integer,
            let body = json["body"]?.string, let fingerprint = json["request"]?.string,
            case .array(let fields)? = json["fields"]
        else { return nil }
        let given = fields.compactMap { field -> Field? in
            guard case .array(let parts) = field, let name = parts.first?.string, let value = parts.last?.string else {
                return nil
            }
            return Field(name, value)
        }
        let answer = GivenAnswer(status: status, fields: given, body: body, importID: json["import"]?.string)
        return (answer, fingerprint)
    }
}
