// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Testing

@Suite struct EntryTests {
    @Test("Entries that mean the same are equal, however their lists were written")
    func normalised() {
        let span = Span.timed(start: Instant(seconds: 0), end: Instant(seconds: 60), zone: "Europe/Berlin")
        let one = Entry(
            title: "x", span: span,
            repetition: Repetition(
                rrule: "FREQ=DAILY", exdates: [Instant(seconds: 9), Instant(seconds: 3), Instant(seconds: 9)]),
            reminders: [30, 10, 30])
        let other = Entry(
            title: "x", span: span,
            repetition: Repetition(rrule: "FREQ=DAILY", exdates: [Instant(seconds: 3), Instant(seconds: 9)]),
            reminders: [10, 30])
        #expect(one == other)
    }

    @Test("A provider's code is kept only when it is short and plain")
    func plainCodes() {
        #expect(ProviderFailure(.refused, "x", code: "quotaExceeded").code == "quotaExceeded")
        #expect(ProviderFailure(.refused, "x", code: "ya29.secret token").code == nil)
        #expect(ProviderFailure(.refused, "x", code: String(repeating: "a", count: 65)).code == nil)
    }
}
