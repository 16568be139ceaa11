// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// A host application's small key server, whose answers a test chooses.
private final class KeyServer: Sendable {
    private struct State {
        var status = HTTPResponse.Status.ok
        var body: [UInt8]
        var location: String?
        var wait = Duration.zero
        var fetches = 0
    }

    private let state: Mutex<State>

    init(_ document: JSONValue) throws {
        let body = try document.serialized()
        state = Mutex(State(body: body))
    }

    var fetches: Int { state.withLock(\.fetches) }
    func answer(_ document: JSONValue) throws { try answer(.ok, document.serialized()) }
    func answer(_ status: HTTPResponse.Status, _ body: [UInt8] = [], location: String? = nil) {
        state.withLock { ($0.status, $0.body, $0.location) = (status, body, location) }
    }
    func wait(_ time: Duration) { state.withLock { $0.wait = time } }

    /// Runs a Kalends that fetches its keys from here.
    func run(
        _ vectors: TokenVectors, _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let router = Router()
        router.get("keys") { _, _ -> Response in
            let now = self.state.withLock { state in
                state.fetches += 1
                return state
            }
            let end = ContinuousClock.now + now.wait
            while ContinuousClock.now < end, self.state.withLock({ $0.wait > .zero }) {
                try await Task.sleep(for: .milliseconds(5))
            }
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.location] = now.location
            return Response(
                status: now.status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: now.body)))
        }
        let app = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)))
        try await app.test(.live) { client in
            var settings = ServerSettings()
            settings.tokens.jwksURL = Concealed("http://127.0.0.1:\(try #require(client.port))/keys")
            try await TestServer.run(settings: settings) { server in
                try await server.makeCircle()
                try await body(server)
            }
        }
    }
}

@Suite("Keys at an address")
struct KeyAddressTests {
    private let vectors: TokenVectors
    private let old: String

    init() throws {
        vectors = try TokenVectors.load()
        old = try #require(vectors.accepted["RS256"]).token
    }

    @Test("Keys are fetched when they are first needed, once for all who ask, and then after fifteen minutes")
    func caches() async throws {
        let keys = try KeyServer(vectors.jwks)
        keys.wait(.milliseconds(300))
        try await keys.run(vectors) { [old, vectors] server in
            #expect(keys.fetches == 0)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<30 { group.addTask { try await server.asUser(old).status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(keys.fetches == 1)
            server.clock.advance(seconds: 599)
            try await server.asUser(old).expect(200)
            #expect(keys.fetches == 1)
            try keys.answer(vectors.rotated)
            server.clock.advance(seconds: 300)
            try await server.asUser(old).expect(200)
            #expect(keys.fetches == 1)
            server.clock.advance(seconds: 1)
            try await server.asUser(old).expect(401)
            try await server.asUser(vectors.byRotated).expect(200)
            #expect(keys.fetches == 2)
        }
    }

    @Test("A key of an unknown name is looked for once a minute, however many ask")
    func rotation() async throws {
        let keys = try KeyServer(vectors.jwks)
        try await keys.run(vectors) { [old, vectors] server in
            try await server.asUser(old).expect(200)
            try keys.answer(vectors.rotated)
            for _ in 0..<20 {
                try await server.asUser(vectors.byRotated).expect(401)
                try await server.asUser(vectors.byUnknown).expect(401)
            }
            #expect(keys.fetches == 1)
            server.clock.advance(seconds: 60)
            try await server.asUser(vectors.byRotated).expect(200)
            #expect(keys.fetches == 2)
            try await server.asUser(old).expect(401)
            for _ in 0..<20 { try await server.asUser(vectors.byUnknown).expect(401) }
            #expect(keys.fetches == 2)
            server.clock.advance(seconds: 60)
            for _ in 0..<20 { try await server.asUser(vectors.byUnknown).expect(401) }
            #expect(keys.fetches == 3)
        }
    }

    @Test("While the address answers nothing of use, the keys stay as they were")
    func outage() async throws {
        let keys = try KeyServer(vectors.jwks)
        try await keys.run(vectors) { [old, vectors] server in
            try await server.asUser(old).expect(200)
            var known = 1
            let rotated = try vectors.rotated.serialized()
            let broken: [(HTTPResponse.Status, [UInt8], String?)] = [
                (.internalServerError, rotated, nil), (.ok, Array("<html>".utf8), nil), (.ok, [], nil),
                (.found, rotated, "/keys"), (.ok, Array(#"{"keys": {}}"#.utf8), nil),
                (.ok, rotated.dropLast() + Array(repeating: 32, count: 1 << 20) + [125], nil),
            ]
            for (status, body, location) in broken {
                keys.answer(status, body, location: location)
                server.clock.advance(seconds: 61)
                try await server.asUser(vectors.byRotated).expect(401)
                known += 1
                #expect(keys.fetches == known)
                try await server.asUser(old).expect(200)
            }
            keys.answer(.ok, rotated)
            server.clock.advance(seconds: 61)
            try await server.asUser(vectors.byRotated).expect(200)
        }
    }

    @Test("An address that does not answer in time holds nobody up whose key is here already")
    func slowOutage() async throws {
        let keys = try KeyServer(vectors.jwks)
        try await keys.run(vectors) { [old, vectors] server in
            try await server.asUser(old).expect(200)
            keys.answer(.serviceUnavailable)
            server.clock.advance(seconds: 901)
            try await server.asUser(old).expect(200)
            #expect(keys.fetches == 2)
            // From now on an answer takes longer than any patience.
            keys.wait(.seconds(3600))
            server.clock.advance(seconds: 61)
            for _ in 0..<20 { try await server.asUser(old).expect(200) }
            while keys.fetches < 3 { try await Task.sleep(for: .milliseconds(10)) }
            keys.wait(.zero)
            try keys.answer(vectors.rotated)
            // What was under way has failed, and the next one brings the new keys.
            var status = 401
            while status == 401 {
                server.clock.advance(seconds: 61)
                status = try await server.asUser(vectors.byRotated).status
            }
            #expect(status == 200 && keys.fetches == 4)
        }
    }

    @Test("Without any keys every token is refused, and an address that nobody answers makes no failure")
    func nobody() async throws {
        var settings = ServerSettings()
        settings.tokens.jwksURL = Concealed("http://127.0.0.1:9/keys?key=hidden")
        try await TestServer.run(settings: settings) { [old] server in
            try await server.makeCircle()
            let answer = try await server.asUser(old).expect(401)
            #expect(answer.json["detail"] == "The token is not valid.")
            #expect(!server.log.text.contains("hidden"))
        }
    }
}
