// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Pages

@Suite("Sharing with care")
struct SharingTests {
    private static func html(_ name: String, _ language: Language = .english) throws -> String {
        let samples = Samples(language: language)
        return samples.render(try #require(samples.all.first { $0.name == name }))
    }

    /// What the page says somebody will see, without markup.
    private static func seen(_ html: String) -> String? {
        let match = html.firstMatch(of: /<p class="sees" role="status">(.*?)\s*<\/p>/.dotMatchesNewlines())
        return match.map { String($0.1).replacing(/<[^>]*>/, with: "") }
    }

    @Test("Each choice of whom a feed is for has one sentence of what they see, and is marked among the others")
    func audiences() throws {
        #expect(
            try SharingTests.seen(SharingTests.html("sync-for-helper"))
                == "The helper sees titles, places and notes (Tasks, Shifts, Appointments, Follow-ups of Rose), "
                + "until April 21.")
        #expect(
            try SharingTests.seen(SharingTests.html("sync-for-me"))?.hasSuffix("until you revoke the feed.") == true)
        for audience in Audience.allCases {
            for language in Language.allCases {
                let html = try SharingTests.html("sync-for-\(audience.rawValue)", language)
                let words = Words.of(language)
                #expect(SharingTests.seen(html)?.hasPrefix(words["seenBy_\(audience.rawValue)"]) == true)
                let link = "?ask=create&amp;for=\(audience.rawValue)#create\" aria-current=\"page\">"
                #expect(html.contains(link + words["audience_\(audience.rawValue)"]), "\(audience)")
            }
        }
        #expect(try SharingTests.seen(SharingTests.html("sync")) == nil)
    }

    @Test("The sentence and the look are those of what was typed, and the form sends it on")
    func look() throws {
        let html = try SharingTests.html("sync-look")
        #expect(
            SharingTests.seen(html)
                == "The helper sees titles without places and notes (Shifts, Appointments of Rose, Hans), until March 31."
        )
        #expect(html.contains("id=\"look\"") && html.contains("<details class=\"card creating\" open>"))
        #expect(html.contains("formaction=\"/app/circles/rose-family/feed-look\""))
        #expect(html.contains("name=\"until\" type=\"date\" autocomplete=\"off\" value=\"2026-03-31\""))
    }

    @Test("Each reader of each feed that works is in one list, with what they see and a way to end it")
    func readers() throws {
        let html = try SharingTests.html("sync")
        let list = try #require(
            html.components(separatedBy: "id=\"readers\"").last?.components(separatedBy: "</section>").first)
        #expect(list.components(separatedBy: "?ask=revoke#revoke").count == 4)
        #expect(list.contains("<bdi>Thunderbird</bdi>") && list.contains("Only that the time is taken"))
        #expect(!list.contains("Outlook"))
    }
}
