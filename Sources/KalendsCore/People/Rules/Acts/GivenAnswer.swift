// SPDX-License-Identifier: Apache-2.0

/// An answer as it is kept for the same request sent again.
package struct GivenAnswer: Hashable, JSONFormed {
    package private(set) var status = 0
    /// The header fields that the route set, by name.
    package private(set) var fields: [Field] = []
    package private(set) var body = ""
    /// The import that the request began, whose report is the answer until the import is done; nil for anything else.
    package private(set) var importID: String?

    package static let form = JSONForm<Self>([
        .init("status", \.status), .init("fields", \.fields), .init("body", \.body), .init("import", \.importID),
    ])

    package struct Field: Hashable, JSONPart {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        package static var schema: JSONSchema { [String].schema }
        package init?(json: JSONValue) {
            guard let parts = [String](json: json), let name = parts.first, let value = parts.last else { return nil }
            self.init(name, value)
        }
        package var json: JSONValue { [name, value].json }
    }

    /// An answer with a hash of its request.
    struct Kept: JSONFormed {
        var fingerprint = ""
        var answer = GivenAnswer()

        static let form = JSONForm<Self>([.init("request", \.fingerprint)] + GivenAnswer.form.within(\.answer))
    }

    package init() {}

    package init(status: Int, fields: [Field], body: String, importID: String? = nil) {
        (self.status, self.fields, self.body, self.importID) = (status, fields, body, importID)
    }
}
