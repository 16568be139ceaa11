// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// Describes a route for the router, the document and the tests: what it does, who may call it, and what it accepts and
/// returns.
struct Operation: Sendable {
    /// The operation's name in generated clients.
    let id: String
    let summary: String
    let access: Access
    let need: KeyNeed
    var details: String?
    var query: [Parameter] = []
    var body: Body?
    var replies: [Reply]
    /// Refusals beyond those that follow from the other properties.
    var refusals: [Int] = []
    /// Whether the resource has a tag, so that a read may answer 304 and a write takes a condition.
    var hasTag = false
    /// Whether the operation may use a processor for long; every list may, without this.
    var takesLong = false
    /// Whether unknown query parameters are ignored, because the senders are not our clients.
    var takesAnyQuery = false
    /// The deprecated parts of the operation.
    var deprecations: [Deprecation] = []

    /// - Parameter need: what a service key must be allowed; `.noKey` for exactly those routes whose access needs no
    ///   credential.
    init(
        _ id: String, _ summary: String, _ access: Access, _ need: KeyNeed, details: String? = nil,
        query: [Parameter] = [],
        body: Body? = nil, _ replies: [Reply], refusals: [Int] = [], hasTag: Bool = false,
        takesLong: Bool = false, deprecations: [Deprecation] = []
    ) {
        precondition(
            access.needsCredential == (need != .noKey), "The access of \(id) and what it needs of a key disagree.")
        (self.id, self.summary, self.access, self.need, self.details) = (id, summary, access, need, details)
        (self.query, self.body, self.replies, self.refusals, self.hasTag) = (query, body, replies, refusals, hasTag)
        (self.takesLong, self.deprecations) = (takesLong, deprecations)
    }

    /// A parameter outside the body.
    struct Parameter: Hashable, Sendable {
        enum Location: String, Sendable { case query, path, header }

        var name: String
        var location = Location.query
        var schema: Schema
        var isRequired = false
    }

    /// The body of a request, by media type.
    struct Body: Sendable {
        var contents: [(type: String, schema: Schema)]
        var isRequired: Bool

        static func json(_ schema: Schema, isRequired: Bool = true) -> Body {
            Body(contents: [("application/json", schema)], isRequired: isRequired)
        }
    }

    /// An answer that is not a refusal.
    struct Reply: Sendable {
        var status: Int
        var text: String
        var type: String?
        var schema: Schema?
        var headers: [String] = []

        static func ok(_ schema: Schema, _ text: String = "Done.") -> Reply {
            Reply(status: 200, text: text, type: "application/json", schema: schema)
        }

        static func created(_ schema: Schema, _ text: String = "Created.") -> Reply {
            Reply(status: 201, text: text, type: "application/json", schema: schema)
        }

        static func list(of schema: Schema, _ text: String = "One page.") -> Reply {
            .ok(
                .output(
                    .required("items", .array(of: schema)),
                    .required("nextCursor", Schema.string.orNull.described("For the next page; null on the last."))),
                text)
        }

        static let noContent = Reply(status: 204, text: "Done; the answer has no body.")
    }
}

extension [Operation.Parameter] {
    /// The parameters of every list.
    static let page: Self = [
        .init(name: "limit", schema: Schema.integer(1...1000).defaulting(to: 100)),
        .init(name: "cursor", schema: Schema.string.described("`nextCursor` of the previous page.")),
    ]
}
