// SPDX-License-Identifier: Apache-2.0

package import Storage

/// What a connection synchronizes, and how often.
package struct ConnectionConfiguration: ContentOptions {
    /// The configuration of a feed with the same settings: feeds and connections choose and word their items by the
    /// same rules.
    package var feed = FeedConfiguration()
    package var twoWay = true
    package var syncIntervalMinutes = 15

    package init() { (feed.includeImported, feed.pastDays) = (false, 30) }

    /// The kinds of items that are not synchronized; in the API these are `syncTasks` and similar fields.
    package var hidden: Set<ScheduleItem.Collection> {
        get { feed.hidden }
        set { feed.hidden = newValue }
    }

    package static let example: JSONValue = ["detail": "titles", "syncIntervalMinutes": 30]

    package static func option(for kind: any ItemContent.Type) -> String { kind.connectionSetting }

    package static let parts: [ItemPart<ConnectionConfiguration>] = [
        .nullable("patientIds", \.feed.patientIds, .patients), .given("detail", \.feed.detail, .choice),
        .given("completedTasks", \.feed.completedTasks, .choice),
        .given("includeReminders", \.feed.includeReminders, .flag),
        .given(
            "twoWay", \.twoWay,
            .flag.described("Whether an appointment that is moved in the calendar is also moved here.")),
        .given("syncIntervalMinutes", \.syncIntervalMinutes, .number(5...1440)),
        .given("pastDays", \.feed.pastDays, .number(0...3660)),
        .given("futureDays", \.feed.futureDays, .number(0...3660)),
        .given("showMinimalDetails", \.feed.showMinimalDetails, .flag).at(.nowhere),
    ]
}
