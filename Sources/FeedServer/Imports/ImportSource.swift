// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ICalBridge

/// What was read of a file that is to be imported, as far as a report and a commit need it.
struct ImportSource: Sendable, Codable {
    struct ReadEvent: Sendable, Codable {
        var event: Event
        var line: Int
    }

    struct Zone: Sendable, Codable {
        var tzid: String
        var resolvedTo: String?
        var how: String
    }

    var events: [ReadEvent]
    /// Components with a place in time that could not be read, or that are no events.
    var skipped: Int
    var problems: [Problem]
    var zones: [Zone]

    /// Reads a file; throws 422 with a sentence when nothing in it can be imported.
    ///
    /// - Parameter charset: as the file's Content-Type names it.
    init(_ bytes: [UInt8], assumedTimeZone: String, charset: String? = nil, limit: Int) throws {
        var options = CalendarReader.Options()
        options.assumedTimeZone = assumedTimeZone
        options.declaredCharset = charset
        options.limits.bytes = limit
        options.limits.components = 200_000
        // The process that reads is allowed no second thread; two such processes use two cores.
        options.threads = 1
        var reading = CalendarReader(options: options).read(anyForm: bytes)
        if reading.format.isOwnText { reading.locateProblems(in: bytes) }
        if let refusal = reading.refusal {
            throw Refusal(
                status: .unprocessableContent, detail: refusal,
                faults: reading.problems.prefix(20).map { Fault(pointer: "/line/\($0.line)", message: $0.message) })
        }
        events = []
        skipped = reading.skipped
        problems = reading.problems
        zones = reading.timeZones.map { Zone(tzid: $0.tzid, resolvedTo: $0.resolvedTo, how: $0.how.rawValue) }
        for (calendar, lines) in zip(reading.calendars, reading.lines) {
            for (event, span) in zip(calendar.events, lines) {
                if event.kind == .event, event.start != nil {
                    events.append(ReadEvent(event: event, line: span.lowerBound))
                } else {
                    skipped += 1
                    problems.append(
                        Problem(
                            line: span.lowerBound, uid: event.uid, severity: .warning, code: "not-an-event",
                            message: "A \(event.kind.rawValue) is not imported: calendar apps do not show it."))
                }
            }
        }
        problems.sort { $0.line < $1.line }
    }

    init(stored text: String) throws {
        self = try JSONDecoder().decode(ImportSource.self, from: Data(text.utf8))
    }
}
