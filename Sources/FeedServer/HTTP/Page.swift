// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird

/// Which part of a list is asked for (contract: `limit` and `cursor`).
struct Page {
    let limit: Int
    /// The key after which the page begins; empty for the first.
    let after: String

    init(_ request: Request) throws {
        limit = try request.queryInteger("limit", in: 1...1000, default: 100)
        if let cursor = request.uri.queryParameters["cursor"] {
            guard let bytes = Base64URL.decode(Array(cursor.utf8)), bytes.allSatisfy({ $0 >= 32 }),
                let key = String(validating: bytes, as: UTF8.self)
            else {
                throw Refusal.invalid("/query/cursor", "This is not a cursor that a list gave.")
            }
            after = key
        } else {
            after = ""
        }
    }

    /// The key as a number, nil for the first page; throws 422 for a cursor of another list.
    var number: Int? {
        get throws {
            if after.isEmpty { return nil }
            guard let number = Int(after) else {
                throw Refusal.invalid("/query/cursor", "This is not a cursor that a list gave.")
            }
            return number
        }
    }

    /// How many to fetch: one more than fits tells whether another page follows.
    var fetchLimit: Int { limit + 1 }

    /// The list's answer from up to `fetchLimit` elements.
    func answer<Element>(
        _ found: [Element], key: (Element) -> String, json: (Element) throws -> JSONValue
    ) throws -> Response {
        let shown = found.prefix(limit)
        var next: JSONValue = .null
        if found.count > limit, let last = shown.last { next = .string(Base64URL.encode(Array(key(last).utf8))) }
        return try .json(["items": .array(try shown.map(json)), "nextCursor": next])
    }
}
