// SPDX-License-Identifier: Apache-2.0

import Foundation
import OfficeDays
import TestSupport
import Testing

@Suite("Office days: speed")
struct OfficeSpeedTests {
    @Test("Ten years of days are decided and written within the time of a request, and the log says how fast")
    func tenYears() throws {
        let first = date("2020-01-01")
        let last = date("2029-12-31")
        let clock = UTCClock()
        let visits = try stride(from: first, through: last, by: 2).map { date in
            try #require(Visit(id: "\(date)", start: clock.second(date, "09:00"), end: clock.second(date, "16:00")))
        }
        let context = OfficeContext { _ in UTCClock() }
        var log = OfficeLog(visits: Visits(visits), seed: "speed")
        var settings = OfficeSettings()
        settings.enabled = true
        var count = 0
        let time = effort {
            count = log.change(to: settings, now: clock.start(of: first), context).writes.count
            count += log.advance(to: clock.lastMinute(of: last), context).writes.count
        }
        let days = (first...last).count
        let speed = Int(Double(days) / (time / .seconds(1)))
        // A phone keeps all of it in memory, and writes it at each change.
        let size = try JSONEncoder().encode(log).count
        print("office days: \(days) days decided, \(count) events in \(time), \(speed) a second, \(size) bytes")
        #expect(count > days / 2)
        #expect(size < 3_000_000)
        #expect(time < .seconds(5))
    }
}
