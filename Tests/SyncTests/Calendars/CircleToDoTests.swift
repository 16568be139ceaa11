// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("To-dos of imported files in a circle's list of tasks")
struct CircleToDoTests {
    private static func component(_ kind: String, _ lines: String...) -> String {
        (["BEGIN:\(kind)", "DTSTAMP:20260301T000000Z"] + lines + ["END:\(kind)", ""]).joined(separator: "\r\n")
    }

    private static let file =
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n"
        + component(
            "VTODO", "UID:rent", "DUE;VALUE=DATE:20260305", "SUMMARY:Pay the rent", "STATUS:NEEDS-ACTION",
            "RELATED-TO:money")
        + component("VTODO", "UID:weekly", "DTSTART:20260303T090000Z", "RRULE:FREQ=WEEKLY", "SUMMARY:Water")
        + component("VTODO", "UID:money", "SUMMARY:Money")
        + component("VJOURNAL", "UID:diary", "DTSTART;VALUE=DATE:20260304", "SUMMARY:Slept well")
        + component("VEVENT", "UID:market", "DTSTART:20260308T090000Z", "SUMMARY:Market")
        + "END:VCALENDAR\r\n"

    @Test("Apps find them among the tasks, and who brought them may change, complete and delete them")
    func shown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let headers: HTTPFields = [
                .authorization: "Bearer \(server.key)", .contentType: "text/calendar", .kalendsUser: "ann",
            ]
            try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit", headers: headers, body: ByteBuffer(string: Self.file)
            ).expect(201)
            let (ann, ben) = (CalendarApp(server: server), CalendarApp(server: server, user: "ben"))
            #expect(try await ann.members().count == 1)
            var texts: [(name: String, text: String)] = []
            for member in try await ann.members("c~tasks") {
                texts.append((member.name, try await ann.text(member.name, in: "c~tasks")))
            }
            #expect(texts.count == 3 && texts.allSatisfy { $0.text.contains("BEGIN:VTODO") })
            let rent = try #require(texts.first { $0.text.contains("UID:rent") }).name
            let done = "STATUS:COMPLETED\r\nPERCENT-COMPLETE:100"
            let refused = await CalendarApp.fault {
                try await ben.edit(rent, in: "c~tasks", ("STATUS:NEEDS-ACTION", done))
            }
            #expect(refused != nil)
            try await ann.edit(rent, in: "c~tasks", ("STATUS:NEEDS-ACTION", done))
            let text = try await ben.text(rent, in: "c~tasks")
            for line in ["STATUS:COMPLETED", "PERCENT-COMPLETE:100", "RELATED-TO:money", "DUE;VALUE=DATE:20260305"] {
                #expect(text.contains(line), "\(text)")
            }
            let export = try await server.call(.get, "/v1/circles/c/export.ics", as: "ann").expect(200)
            #expect(export.values("PERCENT-COMPLETE") == ["100"])
            try await ann.delete(rent, in: "c~tasks")
            #expect(try await ben.members("c~tasks").count == 2)
        }
    }
}
