// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("To-dos and journal entries that others wrote, before an import and in the export after it")
struct ToDoCorpusTests {
    /// A file's to-dos and journal entries as python's icalendar reads them.
    private struct File: Decodable {
        var components: [Component]
        var fault: String?
    }

    private struct Component: Decodable {
        struct Key: Hashable {
            var kind: ByteString
            var uid: ByteString
            var recurrenceID: ByteString
        }

        var kind: String
        var uid: String
        var recurrenceID: String
        var hasDue: Bool
        var descriptions: Int
        var repeats: Bool
        var values: [String: [String]]

        var key: Key {
            Key(kind: ByteString(kind), uid: ByteString(uid), recurrenceID: ByteString(recurrenceID))
        }
    }

    @Test(
        "icalendar finds in the export what it finds in the file, or the report names it",
        .needsCorpora("ical4j"),
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func foreign() async throws {
        try await expectAll(CalendarFile.foreign.filter { $0.path.hasSuffix(".ics") }.map { try $0.bytes }, atLeast: 15)
    }

    @Test(
        "icalendar finds all of our own files in their exports",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func own() async throws {
        let files = try CalendarFile.samples.filter { $0.path.hasSuffix(".ics") }.map { try $0.bytes }
        try await expectAll(files + [Array(ToDoFiles.all.utf8)], atLeast: 2)
    }

    /// Expects of each file that has to-dos or journal entries that they are the same in the export.
    private func expectAll(_ files: [[UInt8]], atLeast least: Int) async throws {
        let mine = files.filter { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return text.contains("BEGIN:VTODO") || text.contains("BEGIN:VJOURNAL")
        }
        let before = try await read(mine)
        try await TestServer.run { server in
            let headers: HTTPFields = [
                .authorization: "Bearer \(server.key)", .kalendsUser: "ann", .contentType: "text/calendar",
            ]
            var (exports, reports, originals): ([[UInt8]], [Answer], [File]) = ([], [], [])
            for (index, bytes) in mine.enumerated() where before[index].fault == nil {
                let circle = "/v1/circles/c\(index)"
                try await server.call(.put, circle, ["name": "C", "timeZone": "Europe/Vienna"]).expect(201)
                try await server.call(
                    .put, "\(circle)/members/ann", ["displayName": "Ann", "role": "owner"]
                ).expect(201)
                let report = try await server.raw(
                    .post, "\(circle)/imports?mode=commit&keep=attendees,attachments", headers: headers,
                    body: ByteBuffer(bytes: bytes))
                guard report.status == 201 else { continue }
                exports.append(try await server.call(.get, "\(circle)/export.ics", as: "ann").expect(200).body)
                reports.append(report)
                originals.append(before[index])
            }
            #expect(exports.count >= least)
            let after = try await read(exports)
            for (index, file) in after.enumerated() {
                #expect(file.fault == nil, "\(file.fault ?? "")")
                expectSame(originals[index], file, reports[index])
            }
        }
    }

    private func expectSame(_ before: File, _ after: File, _ report: Answer) {
        let named = Set((report.json["problems"]?.array ?? []).compactMap { $0["uid"]?.string.map { ByteString($0) } })
        let dropped = Set(
            (report.json["dropped"]?.array ?? []).compactMap { $0["property"]?.string.map { ByteString($0) } })
        let found = Dictionary(after.components.map { ($0.key, $0) }) { $1 }
        let several = Dictionary(grouping: before.components, by: \.key).filter { $0.value.count > 1 }
        for one in before.components where !one.uid.isEmpty && !named.contains(ByteString(one.uid)) {
            guard several[one.key] == nil else { continue }
            guard let other = found[one.key] else {
                Issue.record("\(one.kind) \(one.uid) \(one.recurrenceID) is in no export")
                continue
            }
            #expect(one.hasDue == other.hasDue && one.repeats == other.repeats, "\(one.uid)")
            #expect(one.descriptions == other.descriptions, "\(one.uid)")
            for (name, values) in one.values where !dropped.contains(ByteString(name)) {
                #expect(other.values[name] == values, "\(one.uid) \(name)")
            }
        }
    }

    /// Reads files with icalendar.
    private func read(_ files: [[UInt8]]) async throws -> [File] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "todos-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var paths: [String] = []
        for (index, bytes) in files.enumerated() {
            let file = folder.appending(path: "\(index).ics")
            try Data(bytes).write(to: file)
            paths.append(file.path)
        }
        let script = packageRoot.appending(path: "Tests/Readers/todo_reader.py").path
        let result = try await runProgram(try #require(Programs.python), ["-B", script] + paths)
        #expect(result.status == 0, "\(result.error)")
        let found = try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(File.self, from: Data($0.utf8))
        }
        #expect(found.count == files.count)
        return found
    }
}
