// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import TestSupport
import Testing

@testable import KalendsCore

@Suite("Stored values of the core, read from JSON")
struct StoredDecodingTests {
    @Test("Foundation's decoder reads the same versions of an event on phones, and refuses the same changes of them")
    func versions() throws {
        var content = PersonalEvent.Content(title: "ë", date: "2026-01-01")
        (content.endTime, content.recurrence) = ("09:00", #"{"rrule":"FREQ=DAILY"}"#)
        let outcome = try DecodingOracle.compare([[PhoneVersions.Version(until: 7, content: content)], []])
        #expect(outcome.differences == [])
        #expect(outcome.read > 0 && outcome.refused > 0)
    }
}
