// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Imports of files that others wrote, and of the samples")
struct CorpusImportTests {
    /// The reasons for leaving an event out: it has no time, or the file contains it twice.
    private static let reasons: Set<String> = ["missing-start", "not-an-event", "event-skipped"]

    @Test(
        "Every event is stored, or left out with a reason", .needsCorpora("ical4j/valid"),
        arguments: ["ical4j/valid", "jens-maus+node-ical"])
    func nothingLost(name: String) async throws { try await expectNothingLost(CalendarFile.files(under: name)) }

    @Test("Every event of the samples is stored, or left out with a reason")
    func samples() async throws { try await expectNothingLost(CalendarFile.files(under: "Samples/inbound")) }

    private func expectNothingLost(_ files: [CalendarFile]) async throws {
        #expect(files.count > 30)
        try await TestServer.run { server in
            let headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"]
            for (index, file) in files.enumerated() {
                let circle = "/v1/circles/c\(index)"
                try await server.call(.put, circle, ["name": "C", "timeZone": "Europe/Vienna"]).expect(201)
                let body = ByteBuffer(bytes: try file.bytes)
                let path = "\(circle)/imports?mode=commit&limit=1000"
                let answer = try await server.raw(.post, path, headers: headers, body: body)
                let label = "\(file): \(answer.text.prefix(300))"
                if answer.status == 422 {
                    // Nothing but entries without a place in time.
                    let text = try String(contentsOf: file.url, encoding: .utf8)
                    #expect(!text.contains("BEGIN:VEVENT") || !text.contains("DTSTART"), "\(label)")
                    continue
                }
                #expect(answer.status == 201, "\(label)")
                let counts = try #require(answer.json["counts"]?.object).compactMapValues(\.integer)
                let stored = (counts["created"] ?? 0) + (counts["unchanged"] ?? 0) + (counts["updated"] ?? 0)
                #expect(stored + (counts["skipped"] ?? 0) == counts["events"], "\(label)")
                let problems = answer.json["problems"]?.array ?? []
                let reported = problems.count { Self.reasons.contains($0["code"]?.string ?? "") }
                #expect(reported >= counts["skipped"] ?? 0, "\(label)")
                // The same again changes nothing.
                let again = try await server.raw(.post, path, headers: headers, body: body).expect(201)
                #expect(again.json["counts"]?["created"] == 0 && again.json["counts"]?["updated"] == 0, "\(label)")
            }
        }
    }
}
