// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

/// Files with to-dos and journal entries.
enum ToDoFiles {
    /// Returns a calendar of components, each given as its kind and its lines.
    static func calendar(_ components: [[String]]) -> String {
        let parts = components.map { lines in
            let kind = lines[0]
            return (["BEGIN:\(kind)", "DTSTAMP:20260301T000000Z"] + lines.dropFirst() + ["END:\(kind)", ""])
                .joined(separator: "\r\n")
        }
        return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\(parts.joined())END:VCALENDAR\r\n"
    }

    /// Seven components of six to-dos, a journal entry and an event.
    static let all = calendar([
        [
            "VTODO", "UID:weekly", "DTSTART:20260303T090000Z", "DUE:20260303T100000Z", "RRULE:FREQ=WEEKLY",
            "EXDATE:20260310T090000Z", "SUMMARY:Water the plants", "PRIORITY:3",
        ],
        [
            "VTODO", "UID:weekly", "RECURRENCE-ID:20260317T090000Z", "DTSTART:20260317T110000Z",
            "DUE:20260317T120000Z", "SUMMARY:Water the plants late", "STATUS:COMPLETED", "COMPLETED:20260317T113000Z",
            "PERCENT-COMPLETE:100",
        ],
        [
            "VTODO", "UID:day", "DUE;VALUE=DATE:20260305", "SUMMARY:Pay the rent", "STATUS:NEEDS-ACTION", "PRIORITY:1",
        ],
        ["VTODO", "UID:floating", "DUE:20260306T180000", "SUMMARY:Lock the shed", "CATEGORIES:Mom,Garden"],
        [
            "VTODO", "UID:duration", "DTSTART:20260307T090000Z", "DURATION:PT2H", "SUMMARY:Clean", "STATUS:IN-PROCESS",
            "PERCENT-COMPLETE:50", "RELATED-TO:parent",
        ],
        [
            "VTODO", "UID:parent", "SUMMARY:Spring cleaning", "DESCRIPTION:All rooms", "STATUS:NEEDS-ACTION",
            "RELATED-TO;RELTYPE=PARENT:goal",
        ],
        [
            "VTODO", "UID:done", "DUE:20260304T090000Z", "SUMMARY:Call", "STATUS:COMPLETED",
            "COMPLETED:20260303T120000Z", "PERCENT-COMPLETE:100",
        ],
        [
            "VJOURNAL", "UID:journal", "DTSTART;VALUE=DATE:20260304", "SUMMARY:Slept well", "DESCRIPTION:One",
            "DESCRIPTION:Two", "STATUS:FINAL",
        ],
        ["VEVENT", "UID:event", "DTSTART:20260308T090000Z", "DTEND:20260308T100000Z", "SUMMARY:Market"],
    ])

    /// What an export of the file has to say in a circle in Los Angeles.
    static let lines = [
        "DUE:20260303T100000Z", "RRULE:FREQ=WEEKLY", "EXDATE:20260310T090000Z", "PRIORITY:3",
        "RECURRENCE-ID:20260317T090000Z", "COMPLETED:20260317T113000Z", "DUE;VALUE=DATE:20260305", "PRIORITY:1",
        "DUE;TZID=America/Los_Angeles:20260306T180000", "DURATION:PT2H", "STATUS:IN-PROCESS", "PERCENT-COMPLETE:50",
        "RELATED-TO:parent", "RELATED-TO;RELTYPE=PARENT:goal", "DESCRIPTION:All rooms", "DUE:20260304T090000Z",
        "COMPLETED:20260303T120000Z", "DTSTART;VALUE=DATE:20260304", "DESCRIPTION:One", "DESCRIPTION:Two",
        "STATUS:FINAL", "SUMMARY:Market", "CATEGORIES:Mom,Garden",
    ]
}

extension TestServer {
    /// Imports a file into the circle `c`.
    @discardableResult
    func bring(file: String, _ query: String = "mode=commit", as user: String = "ann") async throws -> Answer {
        let headers: HTTPFields = [
            .authorization: "Bearer \(key)", .contentType: "text/calendar", .kalendsUser: user,
        ]
        return try await raw(
            .post, "/v1/circles/c/imports?\(query)", headers: headers, body: ByteBuffer(string: file)
        ).expect(201)
    }

    func export() async throws -> Answer { try await call(.get, "/v1/circles/c/export.ics", as: "ann").expect(200) }

    func undo(_ answer: Answer) async throws -> Answer {
        let id = try #require(answer.json["id"]?.string)
        return try await call(.post, "/v1/imports/\(id)/undo", as: "ann").expect(200)
    }
}

extension Answer {
    /// How many components of a kind a calendar has.
    func components(_ kind: String) -> Int { calendarLines.count { $0 == "BEGIN:\(kind)" } }

    /// The counts of a report that are not 0.
    var counts: [ByteString: Int] {
        (json["counts"]?.object ?? [:]).compactMapValues(\.integer).filter { $0.value > 0 }
    }
}
