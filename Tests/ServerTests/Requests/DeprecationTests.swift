// SPDX-License-Identifier: Apache-2.0

import Calendar
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What is announced to go")
struct DeprecationTests {
    private static let sunset = "Sat, 01 Jan 2028 00:00:00 GMT"

    /// Made-up routes, some of which are deprecated.
    private static func table(_ server: TestServer) throws -> RouteTable {
        var table = RouteTable(Authentication(services: server.services, isLocal: false))
        table.section(.circles)
        table.on(
            .get, "/v1/old/{id}",
            Operation(
                "getOld", "Read something old", .caller, .scope(.readSchedule), details: "It was new once.",
                [.ok(.named("Circle"))],
                deprecations: [
                    Deprecation(
                        .operation, since: "2027-01-31", sunset: "2028-01-01", instead: "`GET /v1/new` takes its place."
                    )
                ])
        ) { _, context in
            if context.parameter("id") == "gone" { throw Refusal(.gone, detail: "It is gone.") }
            return try .json([:], headers: [.link: "</v1/old/2>; rel=\"next\""])
        }
        table.on(
            .put, "/v1/new",
            Operation(
                "putNew", "Change something new", .caller, .scope(.readSchedule),
                query: [
                    .init(name: "way", schema: Schema.string.described("Which way.")),
                    .init(name: "to", schema: .string),
                ],
                body: .json(.named("CircleInput")), [.ok(.named("Circle"))],
                deprecations: [
                    Deprecation(
                        .parameter("way"), since: "2027-01-31", sunset: "2028-01-01", instead: "There is one way."),
                    Deprecation(
                        .field("timeZone"), since: "2026-12-01", sunset: "2029-01-01", instead: "Leave it out."),
                ])
        ) { request, context in
            guard try await request.json(context)["name"] != nil else {
                throw Refusal.invalid("/name", code: .required, "This is missing.")
            }
            return try .json([:])
        }
        table.on(
            .get, "/v1/new",
            Operation("getNew", "Read something new", .caller, .scope(.readSchedule), [.ok(.named("Circle"))])
        ) { _, _ in try .json([:]) }
        return table
    }

    @Test("Every answer of an operation that is to go says since when, until when and where to read more")
    func operations() async throws {
        try await Self.run { key, ask in
            for (method, id, headers, status) in [
                (HTTPRequest.Method.get, "1", key, 200), (.head, "1", key, 200), (.get, "gone", key, 410),
                (.get, "1?limti=1", key, 400), (.get, "1", [:], 401),
            ] {
                let answer = try await ask(method, "/v1/old/\(id)", headers, nil)
                #expect(answer.status.code == status)
                #expect(answer.headers[.deprecation] == "@1801353600", "\(method) \(id)")
                #expect(answer.headers[.sunset] == Self.sunset, "\(method) \(id)")
                let links = answer.headers[values: .link]
                #expect(links.last == "</docs#getOld>; rel=\"deprecation\"; type=\"text/html\"", "\(method) \(id)")
                #expect(links.count == (status == 200 ? 2 : 1))
            }
            // What is not the operation says nothing.
            for (method, path) in [
                (HTTPRequest.Method.get, "/v1/new"), (.post, "/v1/old/1"), (.get, "/v1/older"),
            ] {
                let answer = try await ask(method, path, key, nil)
                #expect(answer.headers[.deprecation] == nil && answer.headers[.sunset] == nil, "\(method) \(path)")
                #expect(answer.headers[.link] == nil)
            }
        }
    }

    @Test("A parameter and a field that are to go are announced to whoever uses them, also with a refusal")
    func parts() async throws {
        try await Self.run { key, ask in
            let (early, late) = ("@1796083200", "Mon, 01 Jan 2029 00:00:00 GMT")
            for (query, body, status, since, end) in [
                ("", #"{"name": "A"}"#, 200, nil, nil),
                ("?to=a", #"{"name": "A", "other": {"timeZone": "UTC"}}"#, 200, nil, nil),
                ("?way=a", #"{"name": "A"}"#, 200, "@1801353600", Self.sunset),
                ("", #"{"name": "A", "timeZone": null}"#, 200, early, late),
                // Both: what begins and what ends first.
                ("?way=", #"{"timeZone": 1}"#, 422, early, Self.sunset),
                ("?way=a", "{", 400, "@1801353600", Self.sunset),
            ] as [(String, String, Int, String?, String?)] {
                let answer = try await ask(.put, "/v1/new\(query)", key, ByteBuffer(string: body))
                #expect(answer.status.code == status, "\(query) \(body)")
                #expect(answer.headers[.deprecation] == since, "\(query) \(body)")
                #expect(answer.headers[.sunset] == end, "\(query) \(body)")
                #expect((answer.headers[.link] == nil) == (since == nil), "\(query) \(body)")
            }
        }
    }

    @Test("The document and its page mark what is to go, with both days and what takes its place")
    func described() async throws {
        try await TestServer.run { server in
            let table = try Self.table(server)
            let described = OpenAPIDocument(
                routes: table.described, sections: table.sections, schemas: Components.all(.all))
            let document = described.json
            let old = try #require(document["paths"]?["/v1/old/{id}"]?["get"])
            let said = "Deprecated since 2027-01-31: it goes on 2028-01-01 or later."
            #expect(old["deprecated"] == true)
            #expect(old["description"]?.string?.hasPrefix("\(said) `GET /v1/new` takes its place.\n\nIt was") == true)
            let headers = Set((old["responses"]?["200"]?["headers"]?.object ?? [:]).keys.map(\.string))
            #expect(headers.isSuperset(of: Deprecation.fieldNames))
            let new = try #require(document["paths"]?["/v1/new"]?["put"])
            #expect(new["deprecated"] == nil)
            let parameters = Dictionary(
                uniqueKeysWithValues: (new["parameters"]?.array ?? []).map { ($0["name"]?.string ?? "", $0) })
            #expect(parameters["way"]?["deprecated"] == true && parameters["to"]?["deprecated"] == nil)
            #expect(parameters["way"]?["description"]?.string == "\(said) There is one way.")
            let body = try #require(document["components"]?["schemas"]?["CircleInput"])
            #expect(
                body["properties"]?["timeZone"]?["deprecated"] == true
                    && body["properties"]?["name"]?["deprecated"] == nil)
            #expect(
                body["properties"]?["timeZone"]?["description"]?.string
                    == "A time zone's IANA name. Deprecated since 2026-12-01: it goes on 2029-01-01 or later. Leave it out."
            )
            let page = DocumentationPage(described).html
            for text in ["takes its place.", "Which way. \(said) There is one way.", "or later. Leave it out."] {
                #expect(page.contains(text), "\(text)")
            }
        }
    }

    @Test("Pages of other origins may read the fields, and an answer says so to a client below a path, too")
    func elsewhere() async throws {
        var settings = ServerSettings()
        settings.corsOrigins = ["https://app.example"]
        try await Self.run(settings, publicURL: "https://calendar.example/kalends") { key, ask in
            var headers = key
            headers[.origin] = "https://app.example"
            let answer = try await ask(.get, "/v1/old/1", headers, nil)
            let shown = answer.headers[.accessControlExposeHeaders] ?? ""
            #expect(Set(Deprecation.fieldNames).isSubset(of: shown.split(separator: ", ").map(String.init)))
            #expect(answer.headers[values: .link].last?.hasPrefix("</kalends/docs#getOld>") == true)
        }
    }

    @Test("Six months are the least between the two days, which have to exist")
    func days() throws {
        #expect(Deprecation.days("2027-01-31", "2027-08-03")?.sunset.description == "2027-08-03")
        for (since, sunset) in [
            ("2027-01-31", "2027-08-02"), ("2027-01-31", "2026-12-31"), ("2027-02-29", "2028-12-31"),
            ("2027-01-31", "2028-02-30"), ("2027-1-31", "2028-12-31"), ("", ""),
        ] {
            #expect(Deprecation.days(since, sunset) == nil, "\(since) \(sunset)")
        }
    }

    @Test("The table of what is announced in docs/versions.md is this one; KALENDS_WRITE_DOCS=1 writes it")
    func announced() async throws {
        try await TestServer.run { server in
            let rows = try Routes.table(server.front, isLocal: false).described.flatMap { route in
                route.operation.deprecations.map { notice in
                    let what =
                        switch notice.part {
                        case .operation: "all of it"
                        case .parameter(let name): "`\(name)` in the query"
                        case .field(let name): "`\(name)` in the body"
                        }
                    return "| `\(route.method) \(route.path)` | \(what) | \(notice.since) | \(notice.sunset) "
                        + "| \(notice.instead) |"
                }
            }
            try expectTable(
                "announcements", in: "docs/versions.md",
                ["| operation | what goes | announced | stays until | instead |", "| --- | --- | --- | --- | --- |"]
                    + rows)
        }
    }

    @Test(
        "A device that is registered with the former name of its label gets the announcement, and another one does not")
    func device() async throws {
        try await TestServer.run { server in
            let path = "/sync/devices/register"
            let former = try await server.call(.post, path, ["deviceId": "a", "name": "phone"], as: "ann").expect(201)
            #expect(former.headers[.deprecation] == "@1795910400")
            #expect(former.headers[.sunset] == "Thu, 01 Jul 2027 00:00:00 GMT")
            #expect(former.headers[.link]?.hasPrefix("</docs#registerDevice>") == true)
            #expect(former.json["device"]?["label"] == "phone")
            let now = try await server.call(.post, path, ["deviceId": "a", "label": "phone"], as: "ann").expect(200)
            #expect(now.headers[.deprecation] == nil && now.headers[.sunset] == nil && now.headers[.link] == nil)
        }
    }

    private typealias Ask = (HTTPRequest.Method, String, HTTPFields, ByteBuffer?) async throws -> TestResponse

    /// Runs a server of these routes alone, with the header fields of a service key.
    private static func run(
        _ settings: ServerSettings = ServerSettings(), publicURL: String = "http://calendar.example",
        _ body: @escaping @Sendable (_ key: HTTPFields, _ ask: Ask) async throws -> Void
    ) async throws {
        try await TestServer.run(settings: settings, publicURL: publicURL) { server in
            let router = Routes.router(of: try table(server), server.front, isLocal: false)
            try await Application(router: router).test(.router) { client in
                try await body([.authorization: "Bearer \(server.key)", .contentType: "application/json"]) {
                    try await client.execute(uri: $1, method: $0, headers: $2, body: $3)
                }
            }
        }
    }
}
