// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import KalendsCore

@Suite("Dates of HTTP")
struct HTTPDateTests {
    @Test("A date is written as Foundation writes it, and read back as the same second")
    func asFoundationWrites() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var random = SplitMix(seed: 7231)
        // From 1970 to 9999.
        let chosen = (0..<2_000).map { _ in random.below(253_402_300_800) }
        for second in [0, 59, 86_399, 951_782_400, 1_772_452_800, 253_402_300_799] + chosen {
            let text = Instant(seconds: second).httpDate
            #expect(text == formatter.string(from: Date(timeIntervalSince1970: TimeInterval(second))))
            #expect(Instant(httpDate: text)?.seconds == second)
        }
    }
}
