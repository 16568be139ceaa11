// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Pages

@Suite("The page of health")
struct HealthTests {
    private static func html(_ name: String, _ language: Language = .english) throws -> String {
        let samples = Samples(language: language)
        return samples.render(try #require(samples.all.first { $0.name == name }))
    }

    /// Returns each card's name, badge and where its button leads, by section.
    private static func cards(_ html: String) -> [String: [(name: String, badge: String, path: String)]] {
        var found: [String: [(name: String, badge: String, path: String)]] = [:]
        for section in html.components(separatedBy: "<section aria-labelledby=\"").dropFirst() {
            let id = String(section.prefix { $0 != "\"" })
            for card in section.components(separatedBy: "<li class=\"card\">").dropFirst() {
                let name = card.firstMatch(of: /<h3><bdi>([^<]*)</)?.1 ?? ""
                let badge = card.firstMatch(of: /<\/svg>([^<]*)</)?.1 ?? ""
                let path = card.firstMatch(of: /(?:<a class="button [a-z]+" href|<form[^>]* action)="([^"]*)"/)?.1 ?? ""
                found[id, default: []].append((String(name), String(badge), String(path)))
            }
        }
        return found
    }

    @Test("What does not work comes first, and each thing leads to the page where something is done about it")
    func order() throws {
        let html = try Self.html("health")
        let cards = Self.cards(html)
        #expect(cards["broken"]?.allSatisfy { $0.badge == "Does not work" } == true)
        #expect(cards["look"]?.allSatisfy { $0.badge == "Needs a look" } == true)
        #expect(cards["works"]?.allSatisfy { $0.badge == "Works" } == true)
        #expect(
            cards["broken"]?.map(\.path) == [
                "/app/circles/rose-family/feeds/f7/reveal", "/app/circles/rose-family/connections/c-outlook",
                "/app/circles/b/connections/c-google?step=calendar", "/app/circles/b/subscriptions",
                "/app/connectors/apple", "/app/app-passwords/new",
            ])
        #expect(
            cards["look"]?.map(\.path) == [
                "/app/circles/rose-family/feeds/f2",
                "/app/circles/rose-family/feeds/f5/reveal", "/app/circles/rose-family/feeds/f6/reveal",
                "/app/circles/rose-family/feeds/f8/reveal", "/app/circles/rose-family/feeds/f9#settings",
                "/app/circles/rose-family/connections/c-caldav?run=r9#held",
                "/app/circles/b/connections/c-caldav", "/app/circles/b/connections/c-outlook",
                "/app/circles/b/connections/c-apple", "/app/circles/b/subscriptions", "/app/devices",
                "/app/app-passwords/p1",
            ])
        #expect(cards["works"]?.map(\.name) == ["Phone", "Google Calendar", "Matches", "iPad", "Thunderbird"])
        let order = ["\"broken\"", "\"look\"", "\"works\""].map { html.range(of: $0)?.lowerBound ?? html.endIndex }
        #expect(order == order.sorted())
        // A feed that was revoked is nobody's concern, and neither is one that ended a year ago. The phone that serves
        // all circles is there once, and where one circle's part of it needs somebody.
        #expect(!html.contains("Kitchen") && !html.contains("Guests"))
        #expect(html.components(separatedBy: "<h3><bdi>Apple Calendar").count == 2)
        #expect(html.contains("18 of 23 need attention"))
    }

    @Test("A page without trouble says so, in each language", arguments: Language.allCases)
    func well(_ language: Language) throws {
        let words = Words.of(language)
        let html = try Self.html("health-well", language)
        #expect(html.contains(words["healthAllWell"]) && !html.contains(words["badgeLook"]))
        #expect(Self.cards(html).keys.sorted() == ["works"] && Self.cards(html)["works"]?.count == 2)
        #expect(try Self.html("health-empty", language).contains(words["healthEmptyTitle"]))
        #expect(html.contains("<a href=\"/app/health\" aria-current=\"page\">\(words["navHealth"])"))
    }
}
