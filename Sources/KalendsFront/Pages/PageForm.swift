// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore

/// The fields of a form, or of a query, as a browser sends them (application/x-www-form-urlencoded, WHATWG URL section 5).
struct PageForm: Sendable {
    /// The largest form that is read, in bytes.
    static let mostBytes = 256 << 10
    /// The maximum number of fields in a form: an import's page has a box for each of up to a thousand events.
    static let mostFields = 2_000
    /// The longest name of a field, in bytes; ours are shorter.
    private static let longestName = 64

    /// A form takes about this many times its length in memory: its text, and each field as an array and a text.
    private static let factor = 8

    /// Reads a request's form; throws 413 for one that is too large.
    static func bytes(of request: Request, _ context: KalendsContext) async throws -> [UInt8] {
        try await request.bytes(limit: mostBytes, times: factor, context)
    }

    private var fields: [(name: String, value: String)] = []

    init() {}

    /// Reads a form; throws 400 for a body that is not a form in UTF-8 or has too many fields.
    init(_ bytes: [UInt8], type: String?) throws {
        guard bytes.isEmpty || MediaType.essence(of: type) == "application/x-www-form-urlencoded" else {
            throw Refusal.badRequest("This must be a form, as browsers send it.")
        }
        guard let form = PageForm(bytes) else {
            throw Refusal.badRequest("The form cannot be read, or has too many fields.")
        }
        self = form
    }

    /// Nil for a body that cannot be read or has more fields than any form of ours.
    init?(_ bytes: [UInt8]) {
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            guard fields.count < Self.mostFields else { return nil }
            let sign = part.firstIndex(of: UInt8(ascii: "="))
            guard let name = Self.decoded(part[..<(sign ?? part.endIndex)]), name.utf8.count <= Self.longestName,
                let value = Self.decoded(sign.map { part[($0 + 1)...] } ?? [])
            else { return nil }
            fields.append((name, value))
        }
    }

    /// Reads a query; an unreadable query counts as empty.
    init(query: String?) { self = query.flatMap { PageForm(Array($0.utf8)) } ?? PageForm() }

    /// The first value of a name.
    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// All values of a name, in the order in which they were sent.
    func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Whether a box is on; a box that is off is not sent.
    func isOn(_ name: String) -> Bool { self[name] != nil }

    /// The text typed into these fields, for a form that is shown again; several values of a name are joined by commas.
    func typed(_ names: [String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: names.map { ($0, all($0).joined(separator: ",")) })
    }

    private static func decoded(_ part: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.count)
        var rest = part
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let high = digit(rest.removeFirst()), let low = digit(rest.removeFirst()) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)?.fromOutside
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
