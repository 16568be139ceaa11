// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation

@testable import KalendsCore
@testable import KalendsFront

/// Inputs without libFuzzer: changed copies of real ones, or documents after the schemas of the OpenAPI document.
struct InputGenerator {
    private var random: Draw
    private let seeds: [[UInt8]]
    /// The schemas of the document by name.
    private let shapes: [Shape]

    /// - Parameter folder: real inputs, each with its reader's number before it.
    init(mutating folder: URL, _ seed: UInt64) {
        random = Draw(state: seed)
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        seeds = files.sorted { $0.path() < $1.path() }.compactMap { try? Array(Data(contentsOf: $0)) }
        precondition(!seeds.isEmpty, "\(folder.path()) has no files.")
        shapes = []
    }

    init(document seed: UInt64) {
        random = Draw(state: seed)
        seeds = []
        let schemas = Components.all(.all).sorted { $0.key < $1.key }
        let positions = Dictionary(uniqueKeysWithValues: schemas.enumerated().map { ($1.key, $0) })
        shapes = schemas.map { Shape($0.value.value, positions) }
    }

    mutating func next() -> [UInt8] { seeds.isEmpty ? described() : mutated() }
}

// MARK: Changed copies

extension InputGenerator {
    private static let telling: [[UInt8]] =
        [
            "\r\n", "\r\n\r\n", "\0", "\u{FEFF}", "\"", "\\", "\\u0000", "\\uD800", "%00", "%", "%ff", "&", "=", ";",
            ",",
            "../", "//", "@", "[", "]", "{", "}", "<", "]]>", "<!--", "&#x0;", "&#1114112;", "-1", "0", "1e999",
            "1e-999",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "4294967296", "0001", "+1",
            "e\u{301}\u{301}\u{301}", "\u{1F469}\u{200D}\u{1F469}", "\u{202E}", "\u{2028}", "\u{0}", "9999-12-31",
            "0000-00-00", "T24:00:60Z", "+99:99", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
            "0\r\n\r\n",
            "Connection: close\r\n", "HTTP/1.0", "FREQ=SECONDLY", "COUNT=999999999", "BEGIN:VEVENT\r\n",
            "END:VEVENT\r\n",
        ].map { Array($0.utf8) } + [
            [0xFF], [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x1F, 0x8B],
        ]

    private mutating func mutated() -> [UInt8] {
        var input = seeds[random.below(seeds.count)]
        for _ in 0..<(1 + random.below(4)) {
            // The first byte is the reader's number, and seldom changes.
            guard input.count > 1 else { break }
            let position = 1 + random.below(input.count - 1)
            let end = min(input.count, position + 1 + random.below(random.below(4) == 0 ? 200 : 8))
            switch random.below(9) {
            case 0: input[position] ^= 1 << UInt8(random.below(8))
            case 1: input[position] = UInt8(random.below(256))
            case 2: input.removeSubrange(position..<end)
            case 3: input.insert(contentsOf: input[position..<end], at: position)
            case 4: input.insert(contentsOf: Self.telling[random.below(Self.telling.count)], at: position)
            case 5: input.replaceSubrange(position..<end, with: Self.telling[random.below(Self.telling.count)])
            case 6: input.removeSubrange(position...)
            case 7:
                let other = seeds[random.below(seeds.count)].dropFirst()
                guard !other.isEmpty else { continue }
                let start = other.startIndex + random.below(other.count)
                let part = other[start..<min(other.endIndex, start + 1 + random.below(200))]
                input.insert(contentsOf: part, at: position)
            default:
                let piece = Array(input[position..<end])
                for _ in 0..<random.below(20) { input.insert(contentsOf: piece, at: position) }
            }
            if input.count > 16 << 10 { input.removeSubrange((16 << 10)...) }
        }
        if random.below(50) == 0 { input[0] = Reader.numbers[random.below(Reader.numbers.count)] }
        return input
    }
}

// MARK: What the document describes

extension InputGenerator {
    private static let readers = ["json", "json-node", "items", "recurrence", "oauth", "google-event", "graph-event"]
    private static let numbers = readers.map { name in Reader.numbers.first { Reader.numbered($0)?.name == name } ?? 0 }

    private mutating func described() -> [UInt8] {
        var json = value(of: shapes[random.below(shapes.count)], depth: 0)
        // Half of them have a fault somewhere.
        if random.below(2) == 0 { json = spoiled(json) }
        var text = (try? json.serialized()) ?? []
        if random.below(8) == 0, !text.isEmpty { text[random.below(text.count)] = UInt8(random.below(256)) }
        switch random.below(4) {
        case 0: return connection(text)
        case 1: return form(json)
        default: return [Self.numbers[random.below(Self.numbers.count)]] + text
        }
    }

    private mutating func value(of shape: Shape, depth: Int) -> JSONValue {
        if let index = shape.reference {
            return depth < 6 ? value(of: shapes[index], depth: depth + 1) : nil
        }
        if !shape.choices.isEmpty {
            return value(of: shape.choices[random.below(shape.choices.count)], depth: depth + 1)
        }
        if !shape.values.isEmpty { return shape.values[random.below(shape.values.count)] }
        if let constant = shape.constant { return constant }
        if let example = shape.example, random.below(3) == 0 { return example }
        switch shape.kinds[random.below(shape.kinds.count)] {
        case .object: return object(of: shape, depth)
        case .array:
            guard depth < 8, let elements = shape.elements.first else { return [] }
            return .array((0..<random.below(4)).map { _ in value(of: elements, depth: depth + 1) })
        case .number:
            let (low, high) = shape.range
            switch random.below(4) {
            case 0: return .integer(low)
            case 1: return .integer(high)
            default: return .integer(low &+ random.below(max(1, min(high &- low, 1 << 40))))
            }
        case .boolean: return .bool(random.below(2) == 0)
        case .string:
            let choices = shape.isTime ? Self.times : Self.texts
            return .string(choices[random.below(choices.count)])
        case .none: return nil
        }
    }

    private mutating func object(of shape: Shape, _ depth: Int) -> JSONValue {
        var members: [ByteString: JSONValue] = [:]
        for member in shape.members where depth < 8 && (member.isRequired || random.below(2) == 0) {
            members[member.name] = value(of: member.shape, depth: depth + 1)
        }
        return .object(members)
    }

    private static let texts = [
        "", "a", "Early shift", "Zoë \u{1F469}\u{200D}\u{2695}\u{FE0F}", "e\u{301}\u{301}", "line\r\nbreak",
        "a\u{202E}b", "\u{0}",
        "Europe/Berlin", "America/Los_Angeles", "https://example.org/x?y=z#f", "webcal://[::1]:8080/a", "p-1",
        "RRULE:FREQ=DAILY;COUNT=3", "FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20261231T000000Z", "../..", "%2e%2e/", "null", "0",
    ]
    private static let times = [
        "2026-01-21T09:00:00-08:00", "2026-03-29T02:30:00+01:00", "1900-01-01T00:00:00Z", "2500-12-31T23:59:59Z",
        "2026-02-30T00:00:00Z", "2026-01-21T09:00:60Z", "2026-01-21", "9999-12-31T23:59:59+14:00",
    ]

    /// The same with another value, another name or a member more in one place.
    private mutating func spoiled(_ json: JSONValue) -> JSONValue {
        let others: [JSONValue] = [
            nil, true, 0, -1, .integer(.max), .integer(.min), .number(1.5), .number(1e300), "", [], [:], ["a"], [nil],
        ]
        if random.below(3) > 0, case .object(var members) = json, !members.isEmpty {
            let names = members.keys.sorted()
            let name = names[random.below(names.count)]
            switch random.below(4) {
            case 0: members[name] = nil
            case 1: members[ByteString(Self.texts[random.below(Self.texts.count)])] = members[name]
            default: members[name] = spoiled(members[name] ?? nil)
            }
            return .object(members)
        }
        if case .array(var items) = json, !items.isEmpty, random.below(2) == 0 {
            let index = random.below(items.count)
            items[index] = spoiled(items[index])
            return .array(items + (random.below(4) == 0 ? items : []))
        }
        return others[random.below(others.count)]
    }

    /// Requests with the document as their body, framed in both ways.
    private mutating func connection(_ body: [UInt8]) -> [UInt8] {
        var bytes = [Reader.numbers.first { Reader.numbered($0)?.name == "edge" } ?? 0, UInt8(random.below(2))]
        for _ in 0..<(1 + random.below(3)) {
            let path = ["/v1/circles", "/v1/circles/c/tasks", "/feeds/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"]
            let method = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"][random.below(6)]
            bytes += "\(method) \(path[random.below(3)]) HTTP/1.1\r\nHost: x\r\n".utf8
            switch random.below(3) {
            case 0: bytes += "Content-Length: \(body.count)\r\n\r\n".utf8 + body
            case 1:
                bytes += "Transfer-Encoding: chunked\r\n\r\n".utf8
                for piece in pieces(of: body) {
                    bytes += "\(String(piece.count, radix: 16))\r\n".utf8 + piece + [13, 10]
                }
                bytes += "0\r\n\r\n".utf8
            default: bytes += "Accept: */*\r\n\r\n".utf8
            }
        }
        return bytes
    }

    /// The document's members as the fields of a form.
    private mutating func form(_ json: JSONValue) -> [UInt8] {
        let fields = (json.object ?? [:]).sorted { $0.key < $1.key }.map { name, value in
            pathComponent(name.string) + "=" + pathComponent(value.string ?? (try? value.text()) ?? "")
        }
        let readers = ["form", "query", "push"].map { name in
            Reader.numbers.first { Reader.numbered($0)?.name == name } ?? 0
        }
        return [readers[random.below(3)]] + Array(fields.joined(separator: "&").utf8)
    }
}

/// Numbers that are the same for the same seed (SplitMix64).
struct Draw {
    var state: UInt64

    /// Returns a number from 0 to one less than the limit.
    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % UInt64(limit))
    }
}
