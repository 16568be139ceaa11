// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

/// Who uses the library may keep events as JSON; Kalends itself packs them.
@Suite("Events, read from JSON")
struct EventDecodingTests {
    @Test("Foundation's decoder reads the same events and problems, and refuses the same changes of them")
    func changes() throws {
        let events = try DecodingOracle.compare(Forms.rich.events, changes: 150)
        #expect(events.differences == [])
        #expect(events.read > 100 && events.refused > 100)
        let calendar = try DecodingOracle.compare([Forms.rich], changes: 150)
        #expect(calendar.differences == [])
        let problem = Problem(
            line: 3, uid: "u", severity: .warning, code: "c",
            sentence: Sentence(.inLine, "Line \(3, .line): \(Sentence(ofOthers: "m"), .sentence)", count: 1))
        #expect(try DecodingOracle.compare([problem]).differences == [])
    }

    @Test("Every event that others wrote comes back as Foundation's decoder reads it")
    func corpus() throws {
        var outcome = DecodingOracle.Outcome()
        for file in CalendarFile.all {
            for event in try file.read().calendars.flatMap(\.events).prefix(20) {
                DecodingOracle.compare(Event.self, [UInt8](try JSONEncoder().encode(event)), &outcome)
            }
        }
        #expect(outcome.differences == [])
        #expect(outcome.read > CalendarFile.least(samples: 50, foreign: 1000))
        #expect(outcome.refused == 0)
    }
}
