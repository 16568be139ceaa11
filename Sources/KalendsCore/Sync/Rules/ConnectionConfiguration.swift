// SPDX-License-Identifier: Apache-2.0

package import Storage

/// What a connection synchronizes, and how often.
package struct ConnectionConfiguration: ContentOptions {
    /// The kinds of items that are not synchronized; in the API these are `syncTasks` and similar fields.
    package var hidden: Set<ScheduleItem.Collection> = []
    var includeReminders = true
    var showMinimalDetails = false
    var detail = FeedConfiguration.Detail.full
    /// The patients whose items are shown; nil stands for all patients and for items without one.
    var patientIds: [String]?
    var completedTasks = FeedConfiguration.CompletedTasks.remove
    package var twoWay = true
    package var syncIntervalMinutes = 15
    var pastDays = 30
    var futureDays = 400

    package init() {}

    /// The configuration of a feed with the same settings: feeds and connections choose and word their items by the
    /// same rules.
    package var feed: FeedConfiguration {
        var feed = FeedConfiguration()
        feed.hidden = hidden
        feed.includeImported = false
        feed.includeReminders = includeReminders
        feed.showMinimalDetails = showMinimalDetails
        feed.detail = detail
        feed.patientIds = patientIds
        feed.completedTasks = completedTasks
        feed.pastDays = pastDays
        feed.futureDays = futureDays
        return feed
    }

    package static let example: JSONValue = ["detail": "titles", "syncIntervalMinutes": 30]

    package static func option(for kind: any ItemContent.Type) -> String { kind.connectionSetting }

    package static let parts: [ItemPart<ConnectionConfiguration>] = [
        .nullable("patientIds", \.patientIds, .patients), .given("detail", \.detail, .choice),
        .given("completedTasks", \.completedTasks, .choice),
        .given("includeReminders", \.includeReminders, .flag),
        .given(
            "twoWay", \.twoWay,
            .flag.described("Whether an appointment that is moved in the calendar is also moved here.")),
        .given("syncIntervalMinutes", \.syncIntervalMinutes, .number(5...1440)),
        .given("pastDays", \.pastDays, .number(0...3660)), .given("futureDays", \.futureDays, .number(0...3660)),
        .given("showMinimalDetails", \.showMinimalDetails, .flag).at(.nowhere),
    ]
}
