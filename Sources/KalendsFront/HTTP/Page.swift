// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore

/// The requested part of a list: `limit` and `cursor`.
struct Page {
    /// The share of the server's memory that the page may take.
    let room: MemoryShare
    let limit: Int
    /// The key after which the page begins; empty for the first page.
    let after: String

    init(_ request: Request, _ context: KalendsContext) throws { try self.init(request, room: context.memory.answer) }

    init(_ request: Request, room: MemoryShare) throws {
        self.room = room
        limit = try request.queryInteger("limit", in: 1...1000, default: 100)
        if let cursor = request.uri.queryParameters["cursor"] {
            guard let bytes = Base64URL.decode(Array(cursor.utf8)), bytes.allSatisfy({ $0 >= 32 }),
                let key = String(validating: bytes, as: UTF8.self)?.fromOutside
            else {
                throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor from a list.")
            }
            after = key
        } else {
            after = ""
        }
    }

    /// The key as a number; nil for the first page. Throws 422 for a cursor of another list.
    var number: Int? {
        get throws {
            if after.isEmpty { return nil }
            guard let number = Int(after) else {
                throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor from a list.")
            }
            return number
        }
    }

    /// The page request for a use case.
    var request: PageRequest { PageRequest(after: after, limit: fetchLimit) }

    /// The number of elements to fetch: one more than the limit shows whether another page follows.
    var fetchLimit: Int { limit + 1 }

    /// The list's answer from up to `fetchLimit` elements, which are small; it ends early at `PageText.mostBytes`.
    ///
    /// - Parameter beside: further members of the answer, as names and JSON.
    func answer<Element>(
        _ found: [Element], key: (Element) -> String, beside: [(name: String, json: [UInt8])] = [],
        json: (Element) throws -> JSONValue
    ) throws -> Response {
        var rest = found[...]
        var text = try filled(key: key, json: json) { _, count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        for member in beside { text.add(member.name, member.json) }
        return text.response
    }

    /// How many elements are fetched at a time: they may be large, and are held until they are written.
    private static let piece = 25

    /// The list's text from elements that are fetched piece by piece; it ends early at `PageText.mostBytes`.
    ///
    /// - Parameter fetch: returns up to the given number of elements after the given one; nil for the page's first
    ///   elements.
    func filled<Element>(
        key: (Element) -> String, json: (Element) throws -> JSONValue,
        _ fetch: (_ last: Element?, _ count: Int) throws -> [Element]
    ) throws -> PageText {
        var text = PageText(room)
        var last: Element?
        while true {
            let wanted = min(limit + 1 - text.count, Self.piece)
            let found = try fetch(last, wanted)
            for element in found {
                guard text.count < limit, try text.add(json(element)) else {
                    text.finish(next: last.map(key))
                    return text
                }
                last = element
            }
            if found.count < wanted {
                text.finish(next: nil)
                return text
            }
        }
    }

    /// The cursor of the page that begins after the element with this key.
    static func cursor(_ key: String) -> String { Base64URL.encode(Array(key.utf8)) }
}

/// The text of one page of a list, written element by element.
///
/// A page takes memory as it grows, and ends early when no memory is left, so that a list neither waits for memory nor
/// is refused for want of it: the next page goes on where this one ends.
package struct PageText: Sendable {
    /// The maximum number of bytes of elements in one page (4 MiB); a larger element fills a page by itself.
    package static let mostBytes = MemoryBudgets.mostPageBytes
    /// The bytes beside the elements: the list's other members.
    private static let margin = 4 << 10

    /// Whether a page may be as long as this.
    static func fits(_ bytes: Int, in room: MemoryShare) -> Bool {
        bytes < mostBytes && (bytes + margin <= MemoryShare.free || room.growNow(to: bytes + margin))
    }

    private let room: MemoryShare
    private(set) var count = 0
    private(set) var text = AnswerText(#"{"items":["#)

    init(_ room: MemoryShare) { self.room = room }

    /// Adds an element; returns false when the page is full.
    mutating func add(_ element: JSONValue) throws -> Bool {
        let json = try element.serialized()
        guard Self.fits(text.count + json.count, in: room) || count == 0 else { return false }
        if count > 0 { text.append(",") }
        text.append(json)
        count += 1
        return true
    }

    /// Ends the list; further members of the answer may follow.
    ///
    /// - Parameter next: the key after which the next page begins; nil on the last page.
    mutating func finish(next: String?) {
        text.append(next.map { #"],"nextCursor":"\#(Page.cursor($0))""# } ?? #"],"nextCursor":null"#)
    }

    /// Adds a member to the answer, after the list's end.
    ///
    /// - Parameters:
    /// - name: consists of letters only.
    /// - json: the value in JSON.
    mutating func add(_ name: String, _ json: [UInt8]) {
        text.append(#","\#(name)":"#)
        text.append(json)
    }

    var response: Response { .json(text: whole) }

    var whole: AnswerText {
        var text = text
        text.append("}")
        return text
    }
}
