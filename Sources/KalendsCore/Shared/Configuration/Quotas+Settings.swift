// SPDX-License-Identifier: Apache-2.0

/// A setting that changes one number of `Values`.
package struct NumberSetting<Values>: Sendable {
    package let setting: Setting
    package let path: any WritableKeyPath<Values, Int> & Sendable

    init(
        _ name: String, _ path: any WritableKeyPath<Values, Int> & Sendable, in range: ClosedRange<Int>,
        standard: Values, _ about: String
    ) {
        setting = Setting(name, .number(range), standard: String(standard[keyPath: path]), about)
        self.path = path
    }
}

extension Quotas {
    /// Each quota with the setting that changes it.
    package static let settings: [NumberSetting<Quotas>] = [
        quota(
            "maxFeedsPerUser", \.feedsPerUser,
            "Feeds of a user in a circle, including ended ones until they are deleted."),
        quota(
            "maxItemsPerCircle", \.itemsPerCircle,
            "Items that a circle has ever had; a deleted item keeps its UID and still counts."),
        quota(
            "maxBytesPerCircle", \.bytesPerCircle,
            "Bytes of a circle's items as they are stored, and of changed occurrences with 700 for each."),
        quota("maxEventsPerCircle", \.eventsPerCircle, "Imported and followed events of a circle."),
        quota("maxImportsPerDay", \.importsPerDay, "Imports of a circle within a day."),
        quota(
            "maxImportBytesPerDay", \.importBytesPerDay,
            "Bytes of files that are imported into a circle within a day."),
        quota("maxDevicesPerUser", \.devicesPerUser, "Devices of a user."),
        quota(
            "maxAppPasswordsPerUser", \.appPasswordsPerUser,
            "Passwords of a user's calendar apps that have not been ended."),
        quota(
            "maxPushRegistrationsPerUser", \.pushRegistrationsPerUser,
            "Collections at which a user's calendar apps hear of changes, counted for each app."),
        quota(
            "maxSessionsPerUser", \.sessionsPerUser,
            "Sessions of a user; a further one ends the session that has been unused for longest."),
        quota("maxWebhooks", \.webhooks, "The maximum number of webhooks of the installation."),
        quota("maxStreamsPerUser", \.streamsPerUser, "Streams of changes that a user has open at a server."),
        quota("maxStreams", \.streams, "Streams of changes that a server has open in all; each is a connection."),
        quota("maxSubscriptionsPerCircle", \.subscriptionsPerCircle, "Calendars that a circle follows."),
        quota(
            "maxCalendarConnectionsPerUser", \.connectionsPerUser,
            "Calendars that a user keeps in step with one circle."),
        quota("maxMembersPerCircle", \.membersPerCircle, "Members of a circle, including former ones."),
        quota("maxPatientsPerCircle", \.patientsPerCircle, "Patients of a circle, including former ones."),
        quota("maxOccurrencesPerItem", \.occurrencesPerItem, "Changed occurrences of one repeating appointment."),
        quota("maxPersonalEventsPerUser", \.personalEventsPerUser, "A user's own events, including deleted ones."),
        quota(
            "maxPersonalBytesPerUser", \.personalBytesPerUser, "Bytes of a user's own events, including deleted ones."),
        quota("maxPlannedEventsPerUser", \.plannedEventsPerUser, "Planned events that a user's phones reported."),
        quota("maxPlannedBytesPerUser", \.plannedBytesPerUser, "Bytes of a user's planned events."),
        quota("maxOwnCalendarsPerUser", \.ownCalendarsPerUser, "Calendars of a user's own, which calendar apps make."),
        quota(
            "maxOwnResourcesPerUser", \.ownResourcesPerUser,
            "Events, tasks and journal entries in all of a user's own calendars."),
        quota("maxOwnCalendarBytesPerUser", \.ownCalendarBytesPerUser, "Bytes of all of a user's own calendars."),
        quota(
            "hostQuotaFactor", \.hostFactor,
            "How many times as much the host application may have when it acts for nobody in particular."),
    ]

    /// A quota, which may be set to any value in its range.
    private static func quota(
        _ name: String, _ path: any WritableKeyPath<Quotas, Int> & Sendable, _ about: String
    ) -> NumberSetting<Quotas> {
        NumberSetting(name, path, in: 1...1 << 50, standard: Quotas(), about)
    }
}
