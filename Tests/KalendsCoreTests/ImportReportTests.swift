// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Storage
import Testing

@testable import KalendsCore

@Suite("The stored and the shown form of an import's report")
struct ImportReportTests {
    private static let items = [
        #"{"change":"updated","end":{"dateTime":"2026-01-21T10:00:00","floating":true},"itemId":"k1","kind":"todo","#
            + #""reason":"It is private now.","shared":false,"start":{"dateTime":"2026-01-21T09:00:00","#
            + #""timeZone":"Europe/Berlin","utc":"2026-01-21T08:00:00Z"},"stored":"other","summary":"A \"b\"","uid":"u"}"#,
        #"{"change":"created","end":{"date":"10000-01-01"},"itemId":"k2","kind":"event","reason":null,"shared":true,"#
            + #""start":{"date":"9999-12-31"},"summary":null,"uid":""}"#,
    ]
    private static let problems = [
        #"{"code":"date-format","column":3,"line":7,"message":"M.","reference":"RFC 5545 3.3.5","sentence":"2:M..","#
            + #""severity":"repaired","shared":true,"text":"T","uid":"u"}"#,
        #"{"code":"event-skipped","line":9,"message":"M.","sentence":"2:M.c8:excluded.","severity":"warning","#
            + #""shared":false,"stored":"s","uid":"u"}"#,
    ]

    @Test("What is stored is read and written again byte for byte, with sorted names")
    func stored() throws {
        let items = "[" + Self.items.joined(separator: ",") + "]"
        #expect(try [Marked<Imports.Item>](stored: items).text() == items)
        let details =
            #"{"dropped":[{"count":2,"lines":[3,40],"property":"ATTENDEE"}],"keep":["attendees"],"problems":["#
            + Self.problems.joined(separator: ",")
            + #"],"timeZones":[{"how":"x-wr","resolvedTo":null,"tzid":"Z"}],"todos":"tasks"}"#
        #expect(try Imports.Details(stored: details).text() == details)
        let outline =
            #"{"counts":{"created":1,"events":15,"journals":1,"skipped":5,"tasks":2,"todos":3,"unchanged":4,"updated":3},"#
            + #""shared":true,"span":{"from":"2026-01-21","to":null}}"#
        let read = try Imports.Outline(stored: outline)
        #expect(try read.text() == outline && read.counts.updated == 3 && read.isShared)
        #expect(try read.json.text() == outline)
    }

    @Test("What marks a stored item or problem is in no answer")
    func unmarked() throws {
        for text in Self.items {
            let item = try Marked<Imports.Item>(stored: text).value
            #expect(item.json["shared"] == nil && item.json["stored"] == nil && item.json["uid"] != nil)
        }
        for text in Self.problems {
            let problem = try Marked<Problem>(stored: text).value
            #expect(problem.json["shared"] == nil && problem.json["stored"] == nil && problem.json["uid"] != nil)
            #expect(problem.json["sentence"] == nil && problem.message == "M.")
        }
    }

    @Test(
        "A stored value that this version does not understand is an error",
        arguments: [
            ("\"change\":\"created\"", "\"change\":\"moved\""), ("\"shared\":true", "\"shared\":1"),
            ("\"reason\":null,", ""), ("9999-12-31", "soon"),
        ])
    func unknown(_ change: (known: String, other: String)) throws {
        let text = Self.items[1].split(separator: change.known, omittingEmptySubsequences: false)
            .joined(separator: change.other)
        #expect(throws: StorageError.self) { try Marked<Imports.Item>(stored: text) }
    }
}
