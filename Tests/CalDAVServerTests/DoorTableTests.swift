// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// Who asks at an address of Ann's, or of their own where they have a role in the circle.
private enum Who: String, CaseIterable, Sendable {
    case owner, member, viewer, reader, elsewhere, stranger, nobody

    var title: String {
        switch self {
        case .owner, .member, .viewer: rawValue
        case .reader: "password that may only read"
        case .elsewhere: "password for another circle"
        case .stranger: "another person"
        case .nobody: "nobody"
        }
    }

    /// Whose home is asked for.
    var user: String { self == .member ? "ben" : self == .viewer ? "vic" : "ann" }
    var home: String { "/dav/calendars/\(user)/" }

    /// The name of what this method may remove, which is there for this caller alone.
    func name(_ method: String) -> String {
        "\(rawValue)-\(method == "DELETE" ? "gone" : method == "MOVE" ? "moved" : "kept").ics"
    }
}

/// A request in the way of a calendar app.
private struct Ask: Sendable {
    let title: String
    let method: String
    var depth: String?
    var body: String?

    private init(_ method: String, _ title: String? = nil, depth: String? = nil, _ body: String? = nil) {
        (self.method, self.title, self.depth, self.body) = (method, title ?? method, depth, body)
    }

    private static func report(_ name: String, _ content: String = "", depth: String = "0") -> Ask {
        let word = name.split(separator: ":").last.map(String.init) ?? name
        return Ask("REPORT", "REPORT `\(word)`", depth: depth, XML.root(name, content))
    }

    private static let prop = "<D:prop><D:getetag/></D:prop>"

    static let listing = Ask("PROPFIND", "PROPFIND of `Depth: 1`", depth: "1", XML.root("D:propfind", prop))

    static let reading: [Ask] = [
        Ask("OPTIONS"), Ask("GET"), Ask("HEAD"),
        Ask("PROPFIND", depth: "0", XML.root("D:propfind", prop)),
        listing,
        Ask("PROPFIND", "PROPFIND of `Depth: infinity`", depth: "infinity", XML.root("D:propfind", prop)),
        report("C:calendar-multiget", prop + "<D:href>/dav/x</D:href>"),
        report("C:calendar-query", prop + DAVClient.filter(""), depth: "1"),
        report("C:free-busy-query", "<C:time-range start=\"20260301T000000Z\" end=\"20260401T000000Z\"/>"),
        report("D:sync-collection", "<D:sync-token/><D:sync-level>1</D:sync-level>" + prop),
        report("D:expand-property", "<D:property name=\"displayname\"/>"),
        report("D:principal-property-search", prop), report("D:principal-search-property-set"),
        report("D:version-tree", prop),
    ]

    static let writing: [Ask] = [
        Ask("PROPPATCH", nil, XML.set("<A:calendar-order>1</A:calendar-order>")),
        Ask("POST", "POST of `push-register`", PushedApp().body("https://push.example.net/1")),
        Ask("PUT"), Ask("PUT", "PUT of a new entry"), Ask("DELETE"), Ask("MKCALENDAR"), Ask("MKCOL"), Ask("MOVE"),
        Ask("COPY"), Ask("LOCK"),
    ]

    var isNew: Bool { title != method && method == "PUT" }
    var makes: Bool { method.hasPrefix("MK") }
}

/// A kind of address.
private struct Place: Sendable {
    let title: String
    /// The address for somebody and a method.
    let path: @Sendable (Who, String) -> String
    var isEntry = false
    var isTask = false

    static let all: [Place] = [
        Place(title: "`/dav/`") { _, _ in "/dav/" },
        Place(title: "principal") { who, _ in "/dav/principals/\(who.user)/" },
        Place(title: "home") { who, _ in who.home },
        Place(title: "a circle's events") { who, _ in "\(who.home)c/" },
        Place(title: "an appointment", path: { who, method in "\(who.home)c/\(who.name(method))" }, isEntry: true),
        Place(title: "a circle's tasks") { who, _ in "\(who.home)c~tasks/" },
        Place(
            title: "a task", path: { who, method in "\(who.home)c~tasks/\(who.name(method))" }, isEntry: true,
            isTask: true),
        Place(title: "a calendar of one's own") { who, method in
            "\(who.home)own~\(who.rawValue)\(method == "DELETE" ? "-gone" : "")/"
        },
        Place(
            title: "an entry of one's own",
            path: { who, method in "\(who.home)own~\(who.rawValue)/\(who.name(method))" },
            isEntry: true),
        Place(title: "a circle that one is not in") { who, _ in "\(who.home)d/" },
        Place(title: "an entry of that circle", path: { who, _ in "\(who.home)d/theirs.ics" }, isEntry: true),
        // There is neither an inbox nor an outbox.
        Place(title: "an address with nothing, as `inbox`") { who, method in
            "\(who.home)inbox\(method.hasPrefix("MK") ? "-\(who.rawValue)-\(method)" : "")/"
        },
    ]
}

/// What the door answers: each method at each kind of address, by who asks, as docs/rights.md shows it.
@Suite struct DoorTableTests {
    private typealias Clients = [Who: DAVClient]

    private static func run(_ body: @escaping @Sendable (TestServer, Clients) async throws -> Void) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (circle, owner, patient) in [("d", "dora", "kid"), ("e", "ann", "uncle")] {
                let path = "/v1/circles/\(circle)"
                try await server.call(.put, path, ["name": "Others", "timeZone": "Europe/Vienna"]).expect(201)
                try await server.call(
                    .put, "\(path)/members/\(owner)", ["displayName": "Owner", "role": "owner"]
                ).expect(201)
                try await server.call(.put, "\(path)/patients/\(patient)", ["displayName": "Kid"]).expect(201)
            }
            let owner = try await DAVClient(server, "ann")
            let clients: Clients = [
                .owner: owner, .member: try await DAVClient(server, "ben"), .viewer: try await DAVClient(server, "vic"),
                .reader: try await DAVClient(server, "ann", ["access": "read"]),
                .elsewhere: try await DAVClient(server, "ann", ["circleIds": ["e"], "own": false]),
                .stranger: try await DAVClient(server, "ben"),
            ]
            for who in Who.allCases {
                for name in ["kept", "gone", "moved"] {
                    let id = "\(who.rawValue)-\(name)"
                    try await server.put(
                        "appointments", id,
                        ["patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-06T14:00:00-08:00"])
                    try await server.put("tasks", id, ["title": "Pills", "dueAt": "2026-03-06T08:00:00-08:00"])
                }
                let home = who == .member ? clients[.member] : who == .viewer ? clients[.viewer] : owner
                let app = try #require(home)
                for more in ["-gone", "-copies"] { try await app.makeCalendar("own~\(who.rawValue)\(more)") }
                let calendar = try await app.makeCalendar("own~\(who.rawValue)")
                for method in ["PUT", "DELETE", "MOVE"] {
                    let name = who.name(method)
                    try await app.put(calendar + name, XML.event(name)).expect(201)
                }
            }
            try await server.call(
                .put, "/v1/circles/d/appointments/theirs",
                ["patientId": "kid", "provider": "Kim", "startAt": "2026-03-06T14:00:00-08:00"]
            ).expect(201)
            try await body(server, clients)
        }
    }

    private static func send(
        _ ask: Ask, _ path: String, body: String?, to server: TestServer, as client: DAVClient?
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        if ask.method == "PUT" { headers[.contentType] = "text/calendar" }
        if ask.method == "MOVE" || ask.method == "COPY" {
            let parts = path.split(separator: "/").map(String.init)
            var folder = Array(parts.dropLast())
            // Within a calendar a copy would be another resource with the same UID.
            if ask.method == "COPY", let last = folder.last, last.hasPrefix("own~") {
                folder[folder.count - 1] = last + "-copies"
            }
            let target = folder.map { "/" + $0 }.joined() + "/\(ask.method)-\(parts.last ?? "")"
            headers[try #require(HTTPField.Name("Destination"))] = target
        }
        if let client { return try await client.send(ask.method, path, body, depth: ask.depth, headers: headers) }
        if let depth = ask.depth { headers[try #require(HTTPField.Name("Depth"))] = depth }
        return try await server.raw(
            try #require(HTTPRequest.Method(rawValue: ask.method)), path, headers: headers,
            body: body.map { ByteBuffer(string: $0) })
    }

    /// The status of an answer, with that of the properties in it where a PROPPATCH has an answer of several.
    private static func cell(_ ask: Ask, _ answer: Answer) throws -> String {
        #expect(answer.status < 500, "\(ask.title): \(answer.text)")
        guard ask.method == "PROPPATCH", answer.status == 207 else { return String(answer.status) }
        let status = try Multistatus(answer).first.properties.first?.status.split(separator: " ").dropFirst().first
        return "207 with \(status ?? "none")"
    }

    /// What is sent with a PUT: what is there with another note, or something new.
    private static func text(
        _ ask: Ask, _ place: Place, _ path: String, _ who: Who, _ client: DAVClient?
    ) async throws -> String? {
        // Each app has an address of its own at its push service.
        guard ask.method == "PUT" else {
            return ask.body?.replacingOccurrences(of: ".net/1", with: ".net/\(who.rawValue)")
        }
        if !ask.isNew, place.isEntry, let client {
            let answer = try await client.send("GET", path)
            if answer.status == 200 { return answer.text }
        }
        let text = XML.event("new-\(who.rawValue)-\(path.utf8.count)", "CATEGORIES:Mom")
        return place.isTask
            ? text.replacingOccurrences(of: "VEVENT", with: "VTODO").replacingOccurrences(of: "DTEND", with: "DUE")
            : text
    }

    /// Returns lines; methods with the same cells have one together.
    private static func lines(_ title: String, _ rows: [(title: String, cells: [String])]) -> [String] {
        var groups: [(titles: [String], cells: [String])] = []
        for row in rows {
            if let index = groups.firstIndex(where: { $0.cells == row.cells }) {
                groups[index].titles.append(row.title)
            } else {
                groups.append(([row.title], row.cells))
            }
        }
        return groups.map { group in
            let titles = group.titles.joined(separator: ", ")
            return "| \(title.isEmpty ? "" : "\(title) | ")\(titles) | \(group.cells.joined(separator: " | ")) |"
        }
    }

    @Test("The table of who may do what with a calendar app is the server's; KALENDS_WRITE_DOCS=1 writes it")
    func table() async throws {
        try await Self.run { server, clients in
            var lines = [
                "| address | method | \(Who.allCases.map(\.title).joined(separator: " | ")) |",
                "| --- | --- |" + Who.allCases.map { _ in " --- |" }.joined(),
            ]
            var kinds: [(titles: [String], rows: [(title: String, cells: [String])])] = []
            for place in Place.all {
                var rows: [(title: String, cells: [String])] = []
                for ask in Ask.reading + Ask.writing where place.isEntry || !ask.isNew {
                    // What somebody makes at the id of a circle that they do not see is at an address with nothing.
                    if ask.makes, place.title.contains("not in") { continue }
                    var cells: [String] = []
                    for who in Who.allCases {
                        var path = place.path(who, ask.method)
                        if ask.isNew { path = path.replacingOccurrences(of: ".ics", with: "-new.ics") }
                        let body = try await Self.text(ask, place, path, who, clients[who])
                        let answer = try await Self.send(ask, path, body: body, to: server, as: clients[who])
                        let cell = try Self.cell(ask, answer)
                        let said = "\(who.title): \(ask.title) at \(path) is \(cell): \(answer.text.prefix(300))"
                        // Nobody learns what exists, and a resource that may not be changed is read-only, never missing.
                        if who == .nobody { #expect(answer.status == 401, "\(said)") }
                        if who == .stranger, path != "/dav/" { #expect(answer.status == 404, "\(said)") }
                        let isInCircle = path.hasPrefix("\(who.home)c/") || path.hasPrefix("\(who.home)c~tasks/")
                        if ["PUT", "DELETE"].contains(ask.method), cells.first == "204" || cells.first == "201",
                            who == .reader || (who == .viewer && isInCircle)
                        {
                            #expect(answer.condition == "need-privileges", "\(said)")
                        }
                        cells.append(cell)
                    }
                    rows.append((ask.title, cells))
                }
                let alike = kinds.firstIndex { kind in
                    kind.rows.map(\.title) == rows.map(\.title) && kind.rows.map(\.cells) == rows.map(\.cells)
                }
                if let alike { kinds[alike].titles.append(place.title) } else { kinds.append(([place.title], rows)) }
            }
            for kind in kinds { lines += Self.lines(kind.titles.joined(separator: ", "), kind.rows) }
            try expectTable("door", in: "docs/rights.md", lines)
        }
    }

    @Test("The table of what a feed's secret address answers is the server's; KALENDS_WRITE_DOCS=1 writes it")
    func feeds() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let (feed, ended) = (try await server.makeFeed(), try await server.makeFeed(label: "Ended"))
            try await server.call(.delete, "/v1/feeds/\(ended.id)", as: "ann").expect(204)
            let list = try await Self.send(.listing, feed.path, body: Ask.listing.body, to: server, as: nil)
            let member = try #require(try Multistatus(list.expect(207)).responses.last?.href)
            let paths = [feed.path, member, "\(feed.path)/none.ics", ended.path, "/feeds/unknown/x.ics"]
            var rows: [(title: String, cells: [String])] = []
            for ask in Ask.reading + Ask.writing where !ask.isNew {
                // Guesses from one network wait when there are many of them.
                server.clock.advance(seconds: 61)
                var cells: [String] = []
                for path in paths {
                    let body = ask.method == "PUT" ? XML.event("x") : ask.body
                    let answer = try await Self.send(ask, path, body: body, to: server, as: nil)
                    cells.append(try Self.cell(ask, answer))
                }
                rows.append((ask.title, cells))
            }
            let head = [
                "| method | the feed | an event in it | no event of it | a feed that ended | no feed |",
                "| --- | --- | --- | --- | --- | --- |",
            ]
            try expectTable("feed addresses", in: "docs/rights.md", head + Self.lines("", rows))
        }
    }
}
