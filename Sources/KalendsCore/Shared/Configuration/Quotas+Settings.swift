// SPDX-License-Identifier: Apache-2.0

extension Quotas {
    /// Each quota with the setting that changes it.
    static let settings: [(setting: Setting, path: any WritableKeyPath<Quotas, Int> & Sendable)] = [
        (.maxFeedsPerUser, \.feedsPerUser),
        (.maxItemsPerCircle, \.itemsPerCircle),
        (.maxBytesPerCircle, \.bytesPerCircle),
        (.maxEventsPerCircle, \.eventsPerCircle),
        (.maxImportsPerDay, \.importsPerDay),
        (.maxImportBytesPerDay, \.importBytesPerDay),
        (.maxDevicesPerUser, \.devicesPerUser),
        (.maxAppPasswordsPerUser, \.appPasswordsPerUser),
        (.maxPushRegistrationsPerUser, \.pushRegistrationsPerUser),
        (.maxSessionsPerUser, \.sessionsPerUser),
        (.maxWebhooks, \.webhooks),
        (.maxStreamsPerUser, \.streamsPerUser),
        (.maxStreams, \.streams),
        (.maxSubscriptionsPerCircle, \.subscriptionsPerCircle),
        (.maxCalendarConnectionsPerUser, \.connectionsPerUser),
        (.maxMembersPerCircle, \.membersPerCircle),
        (.maxPatientsPerCircle, \.patientsPerCircle),
        (.maxOccurrencesPerItem, \.occurrencesPerItem),
        (.maxPersonalEventsPerUser, \.personalEventsPerUser),
        (.maxPersonalBytesPerUser, \.personalBytesPerUser),
        (.maxPlannedEventsPerUser, \.plannedEventsPerUser),
        (.maxPlannedBytesPerUser, \.plannedBytesPerUser),
        (.maxOwnCalendarsPerUser, \.ownCalendarsPerUser),
        (.maxOwnResourcesPerUser, \.ownResourcesPerUser),
        (.maxOwnCalendarBytesPerUser, \.ownCalendarBytesPerUser),
        (.hostQuotaFactor, \.hostFactor),
    ]
}

extension Setting {
    package static let maxFeedsPerUser = quota(
        "maxFeedsPerUser", \.feedsPerUser, "Feeds of a user in a circle, including ended ones until they are deleted.")
    package static let maxItemsPerCircle = quota(
        "maxItemsPerCircle", \.itemsPerCircle,
        "Items that a circle has ever had; a deleted item keeps its UID and still counts.")
    package static let maxBytesPerCircle = quota(
        "maxBytesPerCircle", \.bytesPerCircle, "Bytes of a circle's items as they are stored.")
    package static let maxEventsPerCircle = quota(
        "maxEventsPerCircle", \.eventsPerCircle, "Imported and followed events of a circle.")
    package static let maxImportsPerDay = quota(
        "maxImportsPerDay", \.importsPerDay, "Imports of a circle within a day.")
    package static let maxImportBytesPerDay = quota(
        "maxImportBytesPerDay", \.importBytesPerDay, "Bytes of files that are imported into a circle within a day.")
    package static let maxDevicesPerUser = quota("maxDevicesPerUser", \.devicesPerUser, "Devices of a user.")
    package static let maxAppPasswordsPerUser = quota(
        "maxAppPasswordsPerUser", \.appPasswordsPerUser, "Passwords of a user's calendar apps that have not been ended."
    )
    package static let maxPushRegistrationsPerUser = quota(
        "maxPushRegistrationsPerUser", \.pushRegistrationsPerUser,
        "Collections at which a user's calendar apps hear of changes, counted for each app.")
    package static let maxSessionsPerUser = quota(
        "maxSessionsPerUser", \.sessionsPerUser,
        "Sessions of a user; a further one ends the session that has been unused for longest.")
    package static let maxWebhooks = quota(
        "maxWebhooks", \.webhooks, "The most webhooks that the installation may have.")
    package static let maxStreamsPerUser = quota(
        "maxStreamsPerUser", \.streamsPerUser, "Streams of changes that a user has open at a server.")
    package static let maxStreams = quota(
        "maxStreams", \.streams, "Streams of changes that a server has open in all; each is a connection.")
    package static let maxSubscriptionsPerCircle = quota(
        "maxSubscriptionsPerCircle", \.subscriptionsPerCircle, "Calendars that a circle follows.")
    package static let maxCalendarConnectionsPerUser = quota(
        "maxCalendarConnectionsPerUser", \.connectionsPerUser, "Calendars that a user keeps in step with one circle.")
    package static let maxMembersPerCircle = quota(
        "maxMembersPerCircle", \.membersPerCircle, "Members of a circle, including former ones.")
    package static let maxPatientsPerCircle = quota(
        "maxPatientsPerCircle", \.patientsPerCircle, "Patients of a circle, including former ones.")
    package static let maxOccurrencesPerItem = quota(
        "maxOccurrencesPerItem", \.occurrencesPerItem, "Changed occurrences of one repeating appointment.")
    package static let maxPersonalEventsPerUser = quota(
        "maxPersonalEventsPerUser", \.personalEventsPerUser, "A user's own events, including deleted ones.")
    package static let maxPersonalBytesPerUser = quota(
        "maxPersonalBytesPerUser", \.personalBytesPerUser, "Bytes of a user's own events, including deleted ones.")
    package static let maxPlannedEventsPerUser = quota(
        "maxPlannedEventsPerUser", \.plannedEventsPerUser, "Planned events that a user's phones reported.")
    package static let maxPlannedBytesPerUser = quota(
        "maxPlannedBytesPerUser", \.plannedBytesPerUser, "Bytes of a user's planned events.")
    package static let maxOwnCalendarsPerUser = quota(
        "maxOwnCalendarsPerUser", \.ownCalendarsPerUser, "Calendars of a user's own, which calendar apps make.")
    package static let maxOwnResourcesPerUser = quota(
        "maxOwnResourcesPerUser", \.ownResourcesPerUser,
        "Events, tasks and journal entries in all of a user's own calendars.")
    package static let maxOwnCalendarBytesPerUser = quota(
        "maxOwnCalendarBytesPerUser", \.ownCalendarBytesPerUser, "Bytes of all of a user's own calendars.")
    package static let hostQuotaFactor = quota(
        "hostQuotaFactor", \.hostFactor,
        "How many times as much the host application may have when it acts for nobody in particular.")

    /// The range of values that any quota may be set to.
    private static let quotaRange = 1...1 << 50

    private static func quota(_ name: String, _ path: any KeyPath<Quotas, Int> & Sendable, _ about: String) -> Setting {
        Setting(name, .number(quotaRange), standard: String(Quotas()[keyPath: path]), about)
    }
}
