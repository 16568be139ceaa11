// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

extension OnceTests {
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
