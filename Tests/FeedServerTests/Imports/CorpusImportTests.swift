// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import FeedServer

/// Calendar files of other projects, if they are beside the package.
private let corpora: URL? = {
    let folder = packageRoot.deletingLastPathComponent().appending(path: "shared/corpora")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
}()

@Suite("Imports of files that others wrote", .enabled(if: corpora != nil))
struct CorpusImportTests {
    /// The reasons for leaving an event out: it has no time, or the file contains it twice.
    private static let reasons: Set<String> = ["missing-start", "not-an-event", "event-skipped"]

    @Test(
        "Every event is stored, or left out with a reason",
        arguments: ["ical4j/valid", "jens-maus+node-ical"])
    func nothingLost(name: String) async throws {
        let root = try #require(corpora).appending(path: name)
        let found = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        let files = found.compactMap { $0 as? URL }.filter { $0.pathExtension == "ics" }.sorted { $0.path < $1.path }
        #expect(files.count > 40)
        try await TestServer.run { server in
            let headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"]
            for (index, file) in files.enumerated() {
                let circle = "/v1/circles/c\(index)"
                try await server.call(.put, circle, ["name": "C", "timeZone": "Europe/Vienna"]).expect(201)
                let body = ByteBuffer(bytes: try Data(contentsOf: file))
                let path = "\(circle)/imports?mode=commit&limit=1000"
                let answer = try await server.raw(.post, path, headers: headers, body: body)
                let label = "\(file.lastPathComponent): \(answer.text.prefix(300))"
                if answer.status == 422 {
                    // Nothing but entries without a place in time.
                    let text = try String(contentsOf: file, encoding: .utf8)
                    #expect(!text.contains("BEGIN:VEVENT") || !text.contains("DTSTART"), "\(label)")
                    continue
                }
                #expect(answer.status == 201, "\(label)")
                let counts = try #require(answer.json["counts"]?.object).compactMapValues(\.integer)
                let stored = (counts["created"] ?? 0) + (counts["unchanged"] ?? 0) + (counts["updated"] ?? 0)
                #expect(stored + (counts["skipped"] ?? 0) == counts["events"], "\(label)")
                let problems = answer.json["problems"]?.array ?? []
                let told = problems.count { Self.reasons.contains($0["code"]?.string ?? "") }
                #expect(told >= counts["skipped"] ?? 0, "\(label)")
                // The same again changes nothing.
                let again = try await server.raw(.post, path, headers: headers, body: body).expect(201)
                #expect(again.json["counts"]?["created"] == 0 && again.json["counts"]?["updated"] == 0, "\(label)")
            }
        }
    }
}
