// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Where the next listing of a calendar begins: Graph's delta link, with the calendar and window that it applies to.
struct GraphCursor: Hashable {
    var calendar: String
    /// The window in which the round began; Graph reports changes within it.
    var window: TimeRange
    /// Graph's deltaLink, unchanged.
    var link: String
    /// Our series in the window: a deleted occurrence is reported under an id that does not reveal its series.
    var series: [String]

    /// The number of series that are remembered; a calendar with more is compared as a whole when its window moves.
    static let mostSeries = 100
    /// The number of seconds by which a round begins earlier and ends later than needed, so that the window may move
    /// for a day.
    static let margin = 86_400

    init(calendar: String, window: TimeRange, link: String, series: some Sequence<String>) {
        self.calendar = calendar
        self.window = window
        self.link = link
        self.series = Array(Set(series).sortedTexts().prefix(Self.mostSeries))
    }

    /// Reads a cursor's text; returns nil when it is not one of ours.
    init?(_ text: String) {
        guard text.utf8.count <= 1 << 18, let json = try? JSONValue(parsing: text.utf8),
            let calendar = json["calendar"]?.string, let from = json["from"]?.integer, let to = json["to"]?.integer,
            let link = json["link"]?.string
        else { return nil }
        self.init(
            calendar: calendar, window: TimeRange(from: Instant(seconds: from), to: Instant(seconds: to)), link: link,
            series: (json["series"]?.array ?? []).compactMap(\.string))
    }

    var text: String {
        let json: JSONValue = [
            "calendar": .string(calendar), "from": .integer(window.from.seconds), "to": .integer(window.to.seconds),
            "link": .string(link), "series": .array(series.map { .string($0) }),
        ]
        // No member is a number that cannot be written as JSON.
        return (try? json.text()) ?? ""
    }

    /// Returns the window of a new round for a wanted window.
    static func window(for wanted: TimeRange) -> TimeRange {
        TimeRange(from: wanted.from.adding(seconds: -margin), to: wanted.to.adding(seconds: margin))
    }

    func covers(_ wanted: TimeRange, in calendar: String) -> Bool {
        self.calendar == calendar && window.contains(wanted)
    }
}
