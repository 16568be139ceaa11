// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsFront

/// Calendars of a few events, each given as its lines.
enum OneCalendar {
    static func text(_ events: [[String]]) -> String {
        let parts = events.map { lines in
            "BEGIN:VEVENT\r\nDTSTAMP:20260101T000000Z\r\n" + lines.map { $0 + "\r\n" }.joined() + "END:VEVENT\r\n"
        }
        return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n\(parts.joined())END:VCALENDAR\r\n"
    }

    static func event(_ uid: String, _ title: String, _ more: String...) -> [String] {
        ["UID:\(uid)", "DTSTART:20260310T090000Z", "SUMMARY:\(title)"] + more
    }
}

/// Calendars of many events, each of which names its number.
enum NumberedEvents {
    /// - Parameter changed: whether the titles are other ones.
    static func calendar(_ count: Int, changed: Bool = false) -> String {
        let events = (0..<count).map { number in
            """
            BEGIN:VEVENT\r\nUID:\(number)@example.com\r\nDTSTAMP:20260301T000000Z\r\n\
            DTSTART:202603\(10 + number % 20)T\(10 + number % 10)0000Z\r\n\
            SUMMARY:\(changed ? "Changed" : "Event") \(number)\r\nEND:VEVENT\r\n
            """
        }
        return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\(events.joined())END:VCALENDAR\r\n"
    }
}

extension TestServer {
    @discardableResult
    func bring(
        _ events: [[String]], as user: String?, mode: String = "commit", to circle: String = "c"
    ) async throws -> Answer {
        var headers: HTTPFields = [.authorization: "Bearer \(key)", .contentType: "text/calendar"]
        if let user { headers[.kalendsUser] = user }
        return try await raw(
            .post, "/v1/circles/\(circle)/imports?mode=\(mode)", headers: headers,
            body: ByteBuffer(string: OneCalendar.text(events)))
    }

    /// Returns the title, UID and SEQUENCE of each event that a feed shows.
    func shown(_ path: String) async throws -> [(title: String, uid: String, sequence: Int)] {
        let answer = try await raw(.get, path).expect(200)
        let (titles, uids) = (answer.values("SUMMARY"), answer.values("UID"))
        let sequences = answer.text.components(separatedBy: "BEGIN:VEVENT").dropFirst().map { part in
            part.components(separatedBy: "\r\n").first { $0.hasPrefix("SEQUENCE:") }.flatMap { Int($0.dropFirst(9)) }
                ?? 0
        }
        return zip(zip(titles, uids), sequences).map { ($0.0, $0.1, $1) }
    }

    func titles(_ path: String) async throws -> [String] { try await shown(path).map(\.title).sorted() }
}
