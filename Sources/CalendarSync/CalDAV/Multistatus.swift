// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension XMLElement {
    /// The text of each `DAV:href` within it.
    var hrefs: [String] { children(.dav, "href").map(\.trimmed) }
}

/// A 207 answer (RFC 4918 section 13), with the token of RFC 6578.
struct Multistatus: Sendable {
    struct Response: Sendable {
        /// The address as the server wrote it.
        var href: String
        /// The status of the resource itself; nil where each property has its own status.
        var status: Int?
        /// The properties that the server has, each with its content.
        var properties: [XMLElement] = []
        /// The first status of properties that the server does not have.
        var refusal: Int?

        func property(_ namespace: XMLNamespace, _ name: String) -> XMLElement? {
            properties.first { $0.is(namespace, name) }
        }

        func text(_ namespace: XMLNamespace, _ name: String) -> String? {
            property(namespace, name).map(\.trimmed).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    var responses: [Response] = []
    var syncToken: String?

    /// The maximum number of responses.
    private static let limit = 100_000
    /// The maximum amount of memory that the responses may take, as a multiple of the answer's length, in addition to a fixed
    /// part.
    private static let growth = 3
    private static let slack = 1 << 16

    /// Holds the memory of the answer.
    var room: (any Sendable)?

    /// Reads an answer; throws `malformed` for anything else.
    init(_ answer: ProviderAnswer) throws(ProviderFailure) {
        do throws(XMLFailure) {
            try self.init(answer.body)
        } catch {
            throw ProviderFailure(.malformed, "The calendar server's answer cannot be read: \(error.message)")
        }
        room = answer.room
    }

    init(_ bytes: [UInt8]) throws(XMLFailure) {
        var reader = try XMLReader(bytes)
        var weight = 0
        while let element = try reader.next() {
            if element.is(.dav, "sync-token"), syncToken == nil {
                syncToken = element.trimmed.isEmpty ? nil : element.trimmed
            }
            guard element.is(.dav, "response") else { continue }
            let hrefs = element.hrefs
            guard !hrefs.isEmpty, responses.count + hrefs.count <= Self.limit else {
                throw XMLFailure(sentence: Sentence(ofOthers: "A response has no address, or there are too many."))
            }
            var response = Response(href: "")
            response.status = element.child(.dav, "status").flatMap { Self.status($0.trimmed) }
            for part in element.children(.dav, "propstat") {
                let status = part.child(.dav, "status").flatMap { Self.status($0.trimmed) } ?? 500
                if (200..<300).contains(status) {
                    response.properties += part.child(.dav, "prop")?.children ?? []
                } else if response.refusal == nil {
                    response.refusal = status
                }
            }
            weight += response.properties.reduce(0) { $0 + $1.weight } + hrefs.reduce(0) { $0 + 96 + $1.utf8.count }
            guard weight <= Self.growth * bytes.count + Self.slack else {
                throw XMLFailure(sentence: Sentence(ofOthers: "It has too many elements for its length."))
            }
            // Several addresses share one status (section 14.24).
            for href in hrefs {
                response.href = href
                responses.append(response)
            }
        }
        guard reader.root?.is(.dav, "multistatus") == true else {
            throw XMLFailure(sentence: Sentence(ofOthers: "It is not a multistatus."))
        }
    }

    /// Reads the status in a line such as `HTTP/1.1 404 Not Found`.
    static func status(_ line: String) -> Int? {
        let parts = line.utf8.split(separator: 32, maxSplits: 2)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3 else { return nil }
        return Int(String(fromOutside: Array(parts[1])))
    }
}

/// The condition that a server names as the reason for a refusal (RFC 4918 section 16).
struct DAVCondition: Hashable, Sendable {
    /// The element's name: `valid-sync-token`, `no-uid-conflict`, …; only known names are accepted.
    var name: String
    /// The addresses in the element, as the server wrote them.
    var hrefs: [String] = []

    static func == (left: Self, right: Self) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { name.hashText(into: &hasher) }

    private static let known = [
        "valid-sync-token", "no-uid-conflict", "unique-scheduling-object-resource", "need-privileges",
        "supported-report", "max-resource-size", "valid-calendar-data", "valid-calendar-object-resource",
        "supported-calendar-component", "supported-calendar-data", "calendar-collection-location-ok",
        "initialize-calendar-collection", "resource-must-be-null", "quota-not-exceeded", "sufficient-disk-space",
        "number-of-matches-within-limits", "max-instances", "min-date-time", "max-date-time", "valid-filter",
        "supported-filter", "propfind-finite-depth", "lock-token-submitted", "max-attendees-per-instance",
    ]

    /// Reads the first condition of a `DAV:error`; returns nil when the body is something else.
    init?(_ body: [UInt8]) {
        guard body.count <= 1 << 16, body.contains(UInt8(ascii: "<")), let root = try? XMLReader.read(body),
            root.is(.dav, "error")
        else { return nil }
        for child in root.children {
            guard let name = Self.known.first(where: { $0 == child.name }) else { continue }
            self.name = name
            self.hrefs = child.hrefs
            return
        }
        return nil
    }
}
