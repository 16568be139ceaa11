// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The codes of problem documents")
struct ProblemCodeTests {
    @Test("Every problem and every fault has a code, and the document lists them all")
    func listed() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let document = try await server.raw(.get, "/openapi.json").expect(200).json
            let schemas = try #require(document["components"]?["schemas"])
            let codes = schemas["Problem"]?["properties"]?["code"]?["x-extensible-enum"]?.array ?? []
            #expect(Set(codes) == Set(ProblemCode.known(with: .all).map { .string($0.rawValue) }))
            let faults = schemas["Fault"]?["properties"]?["code"]?["x-extensible-enum"]?.array ?? []
            #expect(Set(faults) == Set(Fault.Code.allCases.map { .string($0.rawValue) }))
            let refused = try await server.call(
                .put, "/v1/circles/c/tasks/t", ["title": "", "dueAt": "soon", "durationMinutes": 0, "colour": "red"]
            ).expect(422)
            #expect(refused.json["code"] == "invalid-fields")
            let reported = (refused.json["errors"]?.array ?? []).map { [$0["pointer"]?.string, $0["code"]?.string] }
            #expect(
                Set(reported) == [
                    ["/title", "empty"], ["/dueAt", "invalid-time"], ["/durationMinutes", "out-of-range"],
                    ["/colour", "unknown-field"],
                ])
        }
    }

    @Test("A whole number that is too large for an integer is out of range, and not of another type")
    func range() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (minutes, code) in [
                (.integer(.max), "out-of-range"), (.number(1e19), "out-of-range"), (.number(-1e30), "out-of-range"),
                (.number(1.5), "wrong-type"), ("30", "wrong-type"),
            ] as [(JSONValue, JSONValue)] {
                let refused = try await server.call(
                    .put, "/v1/circles/c/tasks/t",
                    ["title": "a", "dueAt": "2026-03-03T09:00:00Z", "durationMinutes": minutes]
                ).expect(422)
                #expect(refused.json["errors"]?.array?.map { $0["code"] } == [code])
            }
        }
    }

    @Test("A list of faults ends at a hundred and says how many more there are")
    func bounded() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let names = (0..<5000).map { ("unknown\($0)", JSONValue.null) }
            let body = JSONValue.object(Dictionary(uniqueKeysWithValues: names))
            let answer = try await server.call(.put, "/v1/circles/d", body).expect(422)
            #expect(answer.json["errors"]?.array?.count == 100)
            // Both fields that a circle needs are missing, too.
            #expect(answer.json["errorsLeftOut"] == 4902)
            #expect(answer.json["detail"] == "5002 fields are not valid.")
            #expect(answer.pointers.first == "/name")
        }
    }
}
