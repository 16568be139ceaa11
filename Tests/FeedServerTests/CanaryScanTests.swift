// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import FeedTokens
import Foundation
import NIOCore
import NIOHTTP1
import Server
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Canaries")
struct CanaryScanTests {
    /// The answers that a client got from the server, except those that hand out a secret.
    actor Transcript {
        var text = Data()
        var statuses: Set<UInt> = []

        func add(_ answer: HTTPClientResponse, _ body: Data) {
            statuses.insert(answer.status.code)
            for (name, value) in answer.headers { text += Data("\(name): \(value)\n".utf8) }
            text += body
        }
    }

    struct Client: Sendable {
        let base: String
        let transcript: Transcript
        /// A client that does not unpack or follow anything by itself.
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

        @discardableResult
        func call(
            _ method: String, _ path: String, key: String? = nil, _ fields: [(String, String)] = [],
            body: String? = nil, handsOut: Bool = false
        ) async throws -> (status: UInt, body: Data, headers: HTTPHeaders) {
            var request = HTTPClientRequest(url: base + path)
            request.method = HTTPMethod(rawValue: method)
            if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
            if let body {
                request.body = .bytes(Array(body.utf8))
                let form = body.hasPrefix("token=") ? "application/x-www-form-urlencoded" : "text/calendar"
                request.headers.add(name: "Content-Type", value: body.hasPrefix("{") ? "application/json" : form)
            }
            for (name, value) in fields { request.headers.add(name: name, value: value) }
            let answer = try await http.execute(request, timeout: .seconds(600))
            let bytes = Data(try await answer.body.collect(upTo: 1 << 24).readableBytesView)
            if !handsOut { await transcript.add(answer, bytes) }
            return (answer.status.code, bytes, answer.headers)
        }
    }

    @Test("A server at log level trace, used in every way, lets no secret into a file, a log, a metric or an answer")
    func process() async throws {
        let metrics = try await ServerPorts.usablePort("127.0.0.1", 0)
        let server = try await RunningServer(["--log-level", "trace", "--metrics-port", "\(metrics)"])
        defer { server.remove() }
        let transcript = Transcript()
        let client = Client(base: "http://127.0.0.1:\(server.port)", transcript: transcript)
        var canaries: [Canary] = []
        func made(_ name: String, _ text: String?) throws -> String {
            let text = try #require(text)
            canaries.append(try Canary("\(name) \(canaries.count)", text))
            return text
        }
        func makeKey(_ name: String) async throws -> String {
            let result = try await server.kalends(["key", "create", "--name", name])
            return try made("key", result.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        func address(_ answer: (status: UInt, body: Data, headers: HTTPHeaders)) throws -> String {
            let json = try JSONValue(parsing: answer.body)
            let token = try made("token", json["token"]?.string)
            return "/feeds/\(token)/x.ics"
        }
        _ = try made("sealing key", String(contentsOfFile: server.database + ".key", encoding: .utf8))
        let (key, second) = (try await makeKey("first"), try await makeKey("second"))
        for (path, body) in [
            ("", #"{"name": "Our secret garden", "timeZone": "Europe/Berlin"}"#),
            ("/members/ann", #"{"displayName": "Ann", "role": "owner"}"#),
            ("/tasks/t", #"{"title": "Pills", "dueAt": "2026-12-01T09:00:00Z"}"#),
        ] {
            #expect(try await client.call("PUT", "/v1/circles/c\(path)", key: key, body: body).status < 300)
        }
        let create = try await client.call(
            "POST", "/v1/circles/c/feeds", key: second, body: #"{"userId": "ann"}"#, handsOut: true)
        let id = try #require(try JSONValue(parsing: create.body)["id"]?.string)
        let first = try address(create)
        let line = try await server.kalends([
            "feed", "create", "--circle", "c", "--user", "ann", "--label", "cli", "--json",
        ])
        let other = try JSONValue(parsing: Array(line.output.utf8))
        let byCommand = "/feeds/\(try made("token", other["token"]?.string)).ics"
        let regenerate = try await client.call(
            "POST", "/v1/feeds/\(id)/regenerate", key: key, body: #"{"graceSeconds": 600}"#, handsOut: true)
        let renewed = try address(regenerate)

        for path in [first, renewed, byCommand, "/functions/v1/ical-feed/" + first.split(separator: "/")[1]] {
            try await read(client, path)
        }
        // What is nearly a secret is one too: a slip of the finger, an unknown one, one in another place.
        let wrong = Secret.make(.feed).reveal()
        _ = try made("wrong token", wrong)
        let wrongKey = Secret.make(.serviceKey).reveal()
        _ = try made("wrong key", wrongKey)
        for path in [
            "/feeds/\(wrong)/x.ics", "/feeds/\(wrong).ics", "/feeds/\(wrong)A.ics", first + "/deeper",
            first + "?x=\(wrong)",
            "/v1/feeds/\(wrong)", "/v1/circles/\(wrong)", "/nowhere/\(wrong)", "/feeds//\(wrong)",
            "/v1/feeds/\(id)/accesses?cursor=\(wrong)",
        ] {
            for (method, asKey) in [("GET", key), ("PUT", nil)] {
                try await client.call(method, path, key: asKey)
            }
        }
        for credential in [wrongKey, "kal_sk_\(wrong)", wrong, key + "x"] {
            #expect(try await client.call("GET", "/v1/circles", key: credential).status == 401)
        }
        try await client.call(
            "GET", "/v1/circles", [("Authorization", "Device \(wrong)"), ("Cookie", "kalends_session=\(wrong)")])
        for body in [#"{"token": "\#(wrong)"}"#, #"{"\#(wrong)": 1}"#, wrong] {
            try await client.call("POST", "/v1/feeds/\(id)/regenerate", key: key, [("If-Match", wrong)], body: body)
        }
        let revealed = try await client.call("POST", "/v1/feeds/\(id)/reveal", key: key, handsOut: true)
        #expect(revealed.status == 200)
        let event =
            "BEGIN:VEVENT\r\nUID:u\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20261201T100000Z\r\nSUMMARY:Gym\r\nEND:VEVENT"
        let file = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\(event)\r\nEND:VCALENDAR\r\n"
        #expect(try await client.call("POST", "/v1/circles/c/imports?mode=commit", key: key, body: file).status == 201)
        try await client.call("POST", "/v1/circles/c/imports?mode=commit", key: key, body: "BEGIN:\(wrong)")
        for command in [
            ["feed", "list"], ["feed", "list", "--json"], ["key", "list"], ["doctor"], ["feed", "reveal", "nothing"],
            ["audit", "list"], ["audit", "list", "--json"],
        ] {
            let result = try await server.kalends(command)
            for canary in canaries {
                #expect(!canary.stands(in: Data((result.output + result.error).utf8)), "\(command)")
            }
        }
        for path in [
            "/v1/feeds/\(id)", "/v1/feeds/\(id)/accesses", "/v1/feeds/\(id)/preview", "/v1/circles/c/feeds", "/v1/keys",
            "/v1/audit",
        ] {
            #expect(try await client.call("GET", path, key: key).status == 200)
        }
        try await scan(server, canaries, transcript, whileRunning: metrics)
        #expect(try await client.call("POST", "/v1/feeds/\(id)/revoke", key: key).status == 200)
        for path in [first, renewed] { #expect(try await client.call("GET", path).status == 410) }
        let keys = try JSONValue(parsing: try await client.call("GET", "/v1/keys", key: key).body)["items"]?.array ?? []
        let revoked = try #require(keys.first { $0["name"] == "second" }?["id"]?.string)
        #expect(try await client.call("POST", "/v1/keys/\(revoked)/revoke", key: key).status == 200)
        #expect(try await client.call("GET", "/v1/circles", key: second).status == 401)
        try await scan(server, canaries, transcript, whileRunning: metrics)
        #expect(await server.stop() == 0)
        try await scan(server, canaries, transcript, whileRunning: nil)
        try await client.http.shutdown()
        #expect(canaries.count == 8)
        #expect(await transcript.statuses.isSuperset(of: [200, 304, 401, 404, 405, 410, 422]))
    }

    /// Reads a feed in all forms, with and without compression and conditions.
    private func read(_ client: Client, _ path: String) async throws {
        for accept in ["text/calendar", "application/calendar+json", "application/calendar+xml", "text/csv"] {
            for coding in ["identity", "gzip"] {
                let fields = [("Accept", accept), ("Accept-Encoding", coding)]
                let answer = try await client.call("GET", path, fields)
                #expect(answer.status == 200)
                let etag = try #require(answer.headers.first(name: "ETag"))
                for method in ["GET", "HEAD"] {
                    #expect(try await client.call(method, path, fields + [("If-None-Match", etag)]).status == 304)
                }
            }
        }
        #expect(try await client.call("HEAD", path).status == 200)
        // An address with a name is a collection for CalDAV, too.
        let isNamed = path.split(separator: "/").count == 3 && path.hasPrefix("/feeds/")
        #expect(try await client.call("PUT", path, body: "x").status == (isNamed ? 403 : 405))
        #expect(try await client.call("POST", path, body: "x").status == 405)
    }

    /// Searches everything there is for every secret, except the key's own file.
    func scan(
        _ server: RunningServer, _ canaries: [Canary], _ transcript: Transcript, whileRunning metrics: Int?
    ) async throws {
        // Lines of the log are written behind the answers.
        try await eventually("The log has the poll.") { server.log.contains("/feeds/{token}/{name}") }
        var sources: [String: Data] = ["answers": await transcript.text]
        for name in try FileManager.default.contentsOfDirectory(atPath: server.folder.path) {
            sources["the name \(name)"] = Data(name.utf8)
            let path = server.folder.appending(path: name).path
            if name.hasSuffix(".key") || name.hasSuffix(".sock") { continue }
            sources[name] = try Data(contentsOf: URL(filePath: path))
        }
        if let metrics {
            for path in ["metrics", "nowhere"] {
                let answer = try await HTTPClient.shared.execute(
                    HTTPClientRequest(url: "http://127.0.0.1:\(metrics)/\(path)"), timeout: .seconds(600))
                sources[path] = Data(try await answer.body.collect(upTo: 1 << 24).readableBytesView)
            }
            #expect(sources["metrics"]?.holds(Data("/feeds/{token}/{name}".utf8)) == true)
            #expect(sources["k.sqlite-wal"] != nil && sources["the name k.sqlite.sock"] != nil)
        }
        // The search sees what is there.
        let stored = (sources["k.sqlite"] ?? Data()) + (sources["k.sqlite-wal"] ?? Data())
        #expect(stored.holds(Data("Our secret garden".utf8)))
        #expect(sources["log"]?.holds(Data("/feeds/{token}/{name}".utf8)) == true)
        #expect((sources["k.sqlite.accesses"]?.count ?? 0) > 1 << 20)
        for (source, data) in sources {
            for canary in canaries { #expect(!canary.stands(in: data), "\(canary.name) in \(source)") }
        }
    }
}
