// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The way back from imports of files that others wrote, and of the samples")
struct CorpusUndoTests {
    /// Returns what is shown of a circle, without the properties that rise with every change.
    private func shown(_ server: TestServer, _ path: String) async throws -> [Substring] {
        let rising = ["SEQUENCE:", "DTSTAMP:", "LAST-MODIFIED:"]
        return try await server.call(.get, path, as: "ann").expect(200).text.split(separator: "\r\n").filter { line in
            !rising.contains(where: line.hasPrefix)
        }
    }

    @Test(
        "An undo puts every byte back, of what was changed and of what was new", .needsCorpora("ical4j/valid"),
        arguments: ["ical4j/valid", "jens-maus+node-ical"])
    func undo(name: String) async throws { try await expectUndone(CalendarFile.files(under: name), updating: 100) }

    @Test("An undo puts every byte of the samples back")
    func samples() async throws { try await expectUndone(CalendarFile.files(under: "Samples/inbound"), updating: 30) }

    private func expectUndone(_ files: [CalendarFile], updating least: Int) async throws {
        try await TestServer.run { server in
            // She sees her own private events too.
            let headers: HTTPFields = [
                .authorization: "Bearer \(server.key)", .kalendsUser: "ann", .contentType: "text/calendar",
            ]
            var updated = 0
            for (index, file) in files.enumerated() {
                let circle = "/v1/circles/c\(index)"
                try await server.call(.put, circle, ["name": "C", "timeZone": "Europe/Vienna"]).expect(201)
                try await server.call(
                    .put, "\(circle)/members/ann", ["displayName": "Ann", "role": "owner"]
                ).expect(201)
                let made = try await server.call(
                    .post, "\(circle)/feeds",
                    ["userId": "ann", "config": ["pastDays": 3660, "futureDays": 3660]]
                ).expect(201)
                // Everything, and what a reader sees.
                let paths = ["\(circle)/export.ics", try TestServer.path(made)]
                let empty = try await paths.asyncMap { try await shown(server, $0) }
                let bytes = try file.bytes
                let first = try await server.raw(
                    .post, "\(circle)/imports?mode=commit", headers: headers, body: ByteBuffer(bytes: bytes))
                guard first.status == 201 else { continue }
                let before = try await paths.asyncMap { try await shown(server, $0) }
                let text = String(decoding: bytes, as: UTF8.self)
                    .replacing("SUMMARY:", with: "SUMMARY:Changed ").replacing("LOCATION:", with: "LOCATION:Far ")
                let second = try await server.raw(
                    .post, "\(circle)/imports?mode=commit", headers: headers, body: ByteBuffer(string: text))
                if second.status == 201, let id = second.json["id"]?.string {
                    let count = second.json["counts"]?["updated"]?.integer ?? 0
                    updated += count
                    let changed = try await shown(server, paths[0])
                    #expect(count == 0 || changed != before[0], "\(file)")
                    let undone = try await server.call(.post, "/v1/imports/\(id)/undo").expect(200).json
                    #expect(undone["kept"]?.array?.isEmpty == true, "\(file)")
                    let after = try await paths.asyncMap { try await shown(server, $0) }
                    #expect(after == before, "\(file)")
                }
                let id = try #require(first.json["id"]?.string)
                try await server.call(.post, "/v1/imports/\(id)/undo").expect(200)
                let after = try await paths.asyncMap { try await shown(server, $0) }
                #expect(after == empty, "\(file)")
            }
            #expect(updated > least)
        }
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
