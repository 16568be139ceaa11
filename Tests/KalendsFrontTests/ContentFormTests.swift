// SPDX-License-Identifier: Apache-2.0

import Base
import Pages
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront

@Suite("The form of what a feed or a connection shows")
struct ContentFormTests {
    private static let patients = [Named(id: "mom", name: "Mom"), Named(id: "dad", name: "Dad")]

    @Test("Each field has words in each language, and each option that is listed has a field")
    func words() {
        Self.expectWords(FeedConfiguration(), kinds: "kinds")
        Self.expectWords(ConnectionConfiguration(), kinds: "synced")
    }

    private static func expectWords<Options: ContentOptions>(_ options: Options, kinds: String) {
        let fields = ContentForm(kinds: .all).fields(options, patients: patients)
        let names = fields.map(\.name)
        for option in Options.listed where option.name != "patientIds" {
            #expect(names.contains { $0 == option.name }, "\(option.name)")
        }
        for field in fields {
            let words =
                switch field.kind {
                case .choice(let choices): [field.name] + choices.map { "\(field.name)_\($0)" }
                case .kinds: [kinds]
                case .check, .number, .lines, .patients: [field.name]
                }
            for language in Language.allCases {
                let keys = Words.of(language).keys
                for word in words { #expect(keys.contains("content_" + word), "\(word) in \(language)") }
            }
        }
    }

    @Test("The tables of options in the documents are the program's; KALENDS_WRITE_DOCS=1 writes them")
    func tables() throws {
        try Self.expectTable(of: FeedConfiguration(), in: "docs/feeds.md")
        try Self.expectTable(of: ConnectionConfiguration(), in: "docs/connections.md")
    }

    private static func expectTable<Options: ContentOptions>(of options: Options, in path: String) throws {
        let usual = options.json(.all)
        let rows = try Options.fields(.all).map { field in
            let json = field.schema.json
            let values =
                if let words = json["enum"]?.array {
                    words.compactMap(\.string).map { "`\($0)`" }.joined(separator: ", ")
                } else if let least = json["minimum"]?.integer, let most = json["maximum"]?.integer {
                    "\(least) to \(most)"
                } else if let most = json["maxItems"]?.integer {
                    "a list of at most \(most)"
                } else {
                    json["type"] == "boolean" ? "`true`, `false`" : "a text"
                }
            let usual = try #require(usual[field.name]).text()
            return "| `\(field.name)` | \(values) | `\(usual)` | \(json["description"]?.string ?? "") |"
        }
        try TestSupport.expectTable(
            "options", in: path, ["| member | values | at first | |", "| --- | --- | --- | --- |"] + rows)
    }

    @Test("A form that is sent as it was shown changes nothing")
    func sentBack() throws {
        var feed = FeedConfiguration()
        (feed.hidden, feed.patientIds, feed.detail) = (["tasks", "follow-ups"], ["mom"], .busy)
        (feed.includePlanned, feed.includeReminders, feed.includeAttendees) = (true, false, true)
        (feed.completedTasks, feed.pastDays, feed.futureDays) = (.keep, 7, 0)
        feed.embedOrigins = ["https://a.example", "https://b.example:8443"]
        try Self.expectSentBack(feed)
        try Self.expectSentBack(FeedConfiguration())
        var connection = ConnectionConfiguration()
        (connection.hidden, connection.twoWay, connection.syncIntervalMinutes) = (["shifts"], false, 30)
        try Self.expectSentBack(connection)
        // The older option for minimal details becomes what it shows.
        feed = FeedConfiguration()
        feed.showMinimalDetails = true
        let config = try #require(Self.sent(feed)["config"])
        #expect(config["showMinimalDetails"] == false && config["detail"] == "titles")
    }

    @Test("The form of one group sets its own options, and all groups together set each option once")
    func groups() throws {
        var feed = FeedConfiguration()
        (feed.hidden, feed.patientIds, feed.detail, feed.futureDays) = (["tasks"], ["mom"], .busy, 7)
        let whole = try #require(Self.sent(feed)["config"]?.object)
        var parts: [ByteString: JSONValue] = [:]
        for group in ContentGroup.allCases {
            let own = try #require(Self.sent(feed, group)["config"]?.object)
            parts.merge(own) { value, _ in
                Issue.record("Two groups set an option.")
                return value
            }
        }
        #expect(parts == whole)
        let days = try #require(Self.sent(feed, .span)["config"]?.object)
        #expect(Set(days.keys) == ["pastDays", "futureDays"])
    }

    private static func expectSentBack<Options: ContentOptions>(_ options: Options) throws {
        var read = Options()
        let faults = read.update(from: try #require(sent(options)["config"]), .all)
        #expect(faults.isEmpty && read == options)
    }

    /// The body for what a browser sends of the form as it is shown.
    private static func sent<Options: ContentOptions>(_ options: Options, _ group: ContentGroup? = nil) -> JSONValue {
        let form = ContentForm<Options>(kinds: .all, group: group)
        let query = form.fields(options, patients: patients)
            .flatMap { field in field.values.map { "\(field.name)=\($0)" } }.joined(separator: "&")
        return form.body(PageForm(query: query))
    }
}
