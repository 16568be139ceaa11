// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import TestSupport
import Testing

@testable import KalendsCore

@Suite("Stored values of the core, read from JSON")
struct StoredDecodingTests {
    @Test("Foundation's decoder reads the same previews of earlier versions, and refuses the same changes of them")
    func previews() throws {
        let file = """
            BEGIN:VCALENDAR
            BEGIN:VEVENT
            UID:one
            DTSTART;TZID=W. Europe Standard Time:20260105T090000
            SUMMARY;LANGUAGE=de:Tëa \\, \\n
            RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO
            EXDATE;TZID=W. Europe Standard Time:20260112T090000
            BEGIN:VALARM
            ACTION:DISPLAY
            TRIGGER:-PT10M
            END:VALARM
            X-OTHER;X-P="a:b":c
            END:VEVENT
            BEGIN:VEVENT
            UID:two
            DTSTART:2026
            END:VEVENT
            BEGIN:VEVENT
            DTSTART;VALUE=DATE:20260105
            DURATION:P1D
            END:VEVENT
            END:VCALENDAR
            """
        let source = try ImportSource(Array(file.utf8), assumedTimeZone: "Europe/Vienna", limit: 10_000)
        #expect(source.events.count == 2)
        let outcome = try DecodingOracle.compare([Preview(source: source)], changes: 1000)
        #expect(outcome.differences == [])
        #expect(outcome.read > 0 && outcome.refused > 0)
    }

    @Test("Foundation's decoder reads the same versions of an event on phones, and refuses the same changes of them")
    func versions() throws {
        var content = PersonalEvent.Content(title: "ë", date: "2026-01-01")
        (content.endTime, content.recurrence) = ("09:00", #"{"rrule":"FREQ=DAILY"}"#)
        let outcome = try DecodingOracle.compare([[PhoneVersions.Version(until: 7, content: content)], []])
        #expect(outcome.differences == [])
        #expect(outcome.read > 0 && outcome.refused > 0)
    }

    /// Compares previews by their encoded form.
    private struct Preview: Codable, Equatable {
        let source: ImportSource

        init(source: ImportSource) { self.source = source }
        init(from decoder: any Decoder) throws { source = try ImportSource(from: decoder) }

        func encode(to encoder: any Encoder) throws { try source.encode(to: encoder) }

        private var text: Data? {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try? encoder.encode(source)
        }

        static func == (a: Preview, b: Preview) -> Bool { a.text != nil && a.text == b.text }
    }
}
