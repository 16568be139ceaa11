// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

extension OnceTests {
    @Test("Whatever a request changes in one act, that act keeps the answer; what takes several is named")
    func oneAct() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var done: Set<String> = []
            let routes = try Routes.table(server.front, isLocal: false).described.filter(\.takesKey)
            #expect(OnceGate.inSteps.isSubset(of: routes.map(\.operation.id)))
            for route in routes {
                // What was undone or revoked by the one before is there again.
                let paths = try await RoutePaths(server)
                let body = try RoutePaths.body(of: route)
                func send() async throws -> Answer {
                    var headers = Self.keyed("each")
                    headers[.authorization] = "Bearer \(server.key)"
                    headers[.contentType] = body?.type
                    if RoutePaths.needsUser(route.operation.access) { headers[.kalendsUser] = "xia" }
                    return try await server.raw(
                        route.method, paths.path(of: route), headers: headers, body: body?.bytes)
                }
                // A debug build ends where an answer is kept too late.
                let first = try await send()
                guard first.status < 300 else { continue }
                done.insert(route.operation.id)
                let again = try await send()
                #expect(again.status == first.status && again.body == first.body, "\(route.operation.id)")
                #expect(again.headers[.idempotencyReplayed] == "true", "\(route.operation.id)")
            }
            let expected: Set<String> = [
                "undoActivity", "revokeFeed", "revealFeed", "regenerateFeed", "revokeKey", "rotateWebhook",
                "testWebhook",
            ]
            #expect(done.isSuperset(of: expected), "\(expected.subtracting(done))")
        }
    }

    @Test("A batch whose answer is too long to be given twice is not carried out twice")
    func longBatch() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func line(_ id: String, _ title: String) -> String {
                #"{"op": "put", "collection": "tasks", "id": "\#(id)", "value": {"title": "\#(title)", "#
                    + #""dueAt": "2026-03-05T10:00:00Z"}}"#
            }
            let wrong = (0..<800).map { #"{"op": "put", "collection": "none", "id": "\#($0)", "value": {}}"# }
            let body = ([line("t", "First")] + wrong).joined(separator: "\n")
            var headers = Self.keyed("long")
            (headers[.authorization], headers[.contentType]) = ("Bearer \(server.key)", "application/x-ndjson")
            func send() async throws -> Answer {
                try await server.raw(
                    .post, "/v1/circles/c/batch", headers: headers, body: ByteBuffer(string: body))
            }
            #expect(try await send().expect(200).body.count > 64 << 10)
            try await server.put("tasks", "t", ["title": "Second", "dueAt": "2026-03-05T10:00:00Z"])
            let again = try await send().expect(409)
            #expect(again.headers[.idempotencyReplayed] == "true")
            #expect(try await server.call(.get, "/v1/circles/c/tasks/t").expect(200).json["title"] == "Second")
        }
    }
}
