// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Export, then import: nothing changes")
struct CorpusRoundTripTests {
    @Test("In files that others wrote", .needsCorpora("ical4j"), arguments: 0..<2)
    func foreign(half: Int) async throws {
        let files = CalendarFile.foreign.enumerated()
        try await expectUnchanged(files.filter { $0.offset % 2 == half }.map(\.element))
    }

    @Test("In the samples")
    func samples() async throws { try await expectUnchanged(CalendarFile.samples) }

    private func expectUnchanged(_ files: [CalendarFile]) async throws {
        #expect(files.count > 30)
        try await TestServer.run { server in
            // She sees her own private events too.
            let headers: HTTPFields = [
                .authorization: "Bearer \(server.key)", .kalendsUser: "ann", .contentType: "text/calendar",
            ]
            for (index, file) in files.enumerated() {
                let circle = "/v1/circles/c\(index)"
                try await server.call(.put, circle, ["name": "C", "timeZone": "Europe/Vienna"]).expect(201)
                try await server.call(
                    .put, "\(circle)/members/ann", ["displayName": "Ann", "role": "owner"]
                ).expect(201)
                func post(_ body: ByteBuffer, keep: String) async throws -> Answer {
                    try await server.raw(
                        .post, "\(circle)/imports?mode=commit&limit=1000\(keep)", headers: headers, body: body)
                }
                func export() async throws -> String {
                    try await server.call(.get, "\(circle)/export.ics", as: "ann").expect(200).text
                }
                let bytes = try file.bytes
                let first = try await post(ByteBuffer(bytes: bytes), keep: "&keep=attendees,attachments")
                guard first.status == 201 else {
                    // What holds no calendar is refused with its reason; nothing else is.
                    #expect(first.status == 422, "\(file): \(first.text)")
                    #expect(CalendarReader().read(bytes).events.isEmpty, "\(file): \(first.text)")
                    continue
                }
                let exported = try await export()
                // Without being asked to keep anything, the second import takes nothing away.
                let second = try await post(ByteBuffer(string: exported), keep: "").expect(201)
                let changed = second.json["items"]?.array?.filter { $0["change"] != "unchanged" } ?? []
                #expect(changed.isEmpty, "\(file): \(changed.prefix(3))")
                #expect(try await export() == exported, "\(file)")
                expectNothingLost(bytes, exported, first, "\(file)")
            }
        }
    }

    /// Expects that every line about people, files and reminders is in the export, or counted in the report with its lines.
    private func expectNothingLost(_ bytes: [UInt8], _ exported: String, _ report: Answer, _ label: String) {
        let counts = report.json["counts"]
        guard counts?["skipped"] == 0, counts?["created"] == counts?["events"] else { return }
        func lines(_ bytes: [UInt8]) -> [ByteString: Int] {
            var all: [ByteString: Int] = [:]
            for event in CalendarReader(options: .init(keepsAttachments: true)).read(bytes).events
            where event.kind != .freeBusy {
                for line in event.otherProperties + event.alarms.flatMap(\.otherProperties) {
                    all[ByteString(line.name), default: 0] += 1
                }
                all["VALARM", default: 0] += event.alarms.count
            }
            return all
        }
        let (before, after) = (lines(bytes), lines(Array(exported.utf8)))
        var dropped: [ByteString: Int] = [:]
        for one in report.json["dropped"]?.array ?? [] {
            dropped[ByteString(one["property"]?.string ?? "")] = one["count"]?.integer
            // Where it was is in the report, too.
            let named = one["lines"]?.array?.compactMap(\.integer) ?? []
            let last = bytes.count { $0 == 10 || $0 == 13 } + 1
            #expect(
                !named.isEmpty && named == named.sorted() && named.allSatisfy { (1...last).contains($0) },
                "\(label): \(one)")
        }
        for name in before.keys.sorted() where !name.string.hasPrefix("X-LIC-") {
            #expect(
                before[name, default: 0] == after[name, default: 0] + dropped[name, default: 0],
                "\(label): \(name.string)")
        }
    }
}
