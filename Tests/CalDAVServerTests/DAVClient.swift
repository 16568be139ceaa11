// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// A calendar app with an app password.
struct DAVClient: Sendable {
    let server: TestServer
    let user: String
    let password: String

    /// Makes an app password for a user.
    init(_ server: TestServer, _ user: String, _ more: JSONValue = [:]) async throws {
        var body: [ByteString: JSONValue] = ["label": "A phone"]
        body.merge(more.object ?? [:]) { $1 }
        let made = try await server.call(.post, "/v1/app-passwords", .object(body), as: user).expect(201).json
        (self.server, self.user) = (server, user)
        password = try #require(made["password"]?.string)
        #expect(made["username"]?.string == user)
    }

    var home: String { "/dav/calendars/\(user)/" }

    @discardableResult
    func send(
        _ method: String, _ path: String, _ body: String? = nil, depth: String? = nil, headers: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = headers
        headers[.authorization] = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        if let depth { headers[try #require(HTTPField.Name("Depth"))] = depth }
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/xml" }
        return try await server.raw(
            try #require(HTTPRequest.Method(rawValue: method)), path, headers: headers,
            body: body.map { ByteBuffer(string: $0) })
    }

    /// Asks for properties, each with the prefix `D`, `C`, `CS` or `A`.
    func properties(
        _ path: String, _ names: [String], depth: String = "0", headers: HTTPFields = [:]
    ) async throws -> Multistatus {
        let asked = names.map { "<\($0)/>" }.joined()
        return try Multistatus(
            try await send(
                "PROPFIND", path, XML.root("D:propfind", "<D:prop>\(asked)</D:prop>"), depth: depth, headers: headers
            ).expect(207))
    }

    /// Makes a calendar, and returns its address.
    @discardableResult
    func makeCalendar(_ name: String) async throws -> String {
        let path = "\(home)\(name)/"
        try await send("MKCALENDAR", path).expect(201)
        return path
    }

    @discardableResult
    func put(_ path: String, _ text: String, headers: HTTPFields = [:]) async throws -> Answer {
        var headers = headers
        headers[.contentType] = "text/calendar; charset=utf-8"
        return try await send("PUT", path, text, headers: headers)
    }
}

enum XML {
    static func root(_ name: String, _ inner: String) -> String {
        """
        <?xml version="1.0" encoding="utf-8"?>
        <\(name) xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CS="http://calendarserver.org/ns/" \
        xmlns:A="http://apple.com/ns/ical/">\(inner)</\(name)>
        """
    }

    static func set(_ inner: String) -> String {
        root("D:propertyupdate", "<D:set><D:prop>\(inner)</D:prop></D:set>")
    }

    static func event(_ uid: String, _ more: String...) -> String {
        let lines =
            [
                "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//Test//EN", "BEGIN:VEVENT", "UID:\(uid)",
                "DTSTAMP:20260301T000000Z", "DTSTART:20260304T170000Z", "DTEND:20260304T180000Z", "SUMMARY:Meeting",
            ] + more + ["END:VEVENT", "END:VCALENDAR", ""]
        return lines.joined(separator: "\r\n")
    }
}

/// A 207 answer as its reader sees it.
struct Multistatus {
    struct Response {
        let href: String
        /// The status of the resource as a whole.
        let status: String?
        /// The elements of properties by their status.
        private(set) var properties: [(status: String, element: XMLElement)] = []

        init(_ element: XMLElement) throws {
            href = try #require(element.child(.dav, "href")).trimmed
            status = element.child(.dav, "status")?.trimmed
            for part in element.children(.dav, "propstat") {
                let status = try #require(part.child(.dav, "status")).trimmed
                for child in part.child(.dav, "prop")?.children ?? [] { properties.append((status, child)) }
            }
        }

        /// A property that the resource has.
        subscript(_ namespace: XMLNamespace, _ name: String) -> XMLElement? {
            properties.first { $0.status.contains(" 200 ") && $0.element.is(namespace, name) }?.element
        }

        func names(_ status: Int) -> [String] {
            properties.filter { $0.status.contains(" \(status) ") }.map(\.element.name)
        }
    }

    let root: XMLElement
    let responses: [Response]

    init(_ answer: Answer) throws {
        root = try XMLReader.read(answer.body)
        #expect(root.is(.dav, "multistatus"))
        responses = try root.children(.dav, "response").map { try Response($0) }
    }

    subscript(_ href: String) -> Response? { responses.first { $0.href == href } }

    var first: Response {
        get throws { try #require(responses.first) }
    }
}

extension Answer {
    /// The condition that a refusal names.
    var condition: String? {
        (try? XMLReader.read(body)).flatMap { $0.is(.dav, "error") ? $0.children.first?.name : nil }
    }
}

extension DAVClient {
    /// Runs a test with a client that has made a calendar of its own.
    static func withCalendar(
        _ body: @escaping @Sendable (_ app: DAVClient, _ calendar: String) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let app = try await DAVClient(server, "ann")
            try await body(app, try await app.makeCalendar("own~x"))
        }
    }
}
