// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import Testing

@Suite("Companion: the wire") struct WireTests {
    @Test("What a device leaves out of an event is not in the body, not even as null")
    func leftOut() throws {
        var event = SentEvent(externalId: "X", title: "Walk", date: "2026-03-01")
        event.location = ""
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(event), as: UTF8.self)
        #expect(text == #"{"date":"2026-03-01","externalId":"X","location":"","title":"Walk"}"#)
    }

    @Test("A server's event is read with its nulls, and with members that this version does not know")
    func changes() throws {
        let text = """
            {"events":[{"id":"a","title":"T","date":"2026-01-02","startTime":null,"endTime":null,"allDay":true,
            "description":null,"location":null,"provider":"manual","externalId":null,"syncState":"deleted",
            "createdAt":1,"updatedAt":7,"deletedAt":6,"later":{"x":[1]}}],"serverTime":9,"nextSince":7,"hasMore":false}
            """
        let page = try JSONDecoder().decode(ChangePage.self, from: Data(text.utf8))
        #expect(page.nextSince == 7)
        #expect(page.events.first?.isDeleted == true)
    }

    @Test(
        "Wall times before 1970 and after it become totals and come back",
        arguments: [-86_401, -1, 0, 1, 86_399, 86_400])
    func wallTimes(total: Int) {
        let time = WallTime(total: total)
        #expect(time.total == total)
        #expect((0..<86_400).contains(time.second))
    }
}
