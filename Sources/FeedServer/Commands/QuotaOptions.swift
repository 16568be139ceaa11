// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore

/// The flags of the quotas.
struct QuotaOptions: ParsableArguments {
    @Option(name: Setting.maxFeedsPerUser.option, help: Setting.maxFeedsPerUser.help) var maxFeedsPerUser: String?
    @Option(name: Setting.maxItemsPerCircle.option, help: Setting.maxItemsPerCircle.help) var maxItemsPerCircle: String?
    @Option(name: Setting.maxBytesPerCircle.option, help: Setting.maxBytesPerCircle.help) var maxBytesPerCircle: String?
    @Option(name: Setting.maxEventsPerCircle.option, help: Setting.maxEventsPerCircle.help) var maxEventsPerCircle:
        String?
    @Option(name: Setting.maxImportsPerDay.option, help: Setting.maxImportsPerDay.help) var maxImportsPerDay: String?
    @Option(name: Setting.maxImportBytesPerDay.option, help: Setting.maxImportBytesPerDay.help)
    var maxImportBytesPerDay: String?
    @Option(name: Setting.maxDevicesPerUser.option, help: Setting.maxDevicesPerUser.help) var maxDevicesPerUser: String?
    @Option(name: Setting.maxAppPasswordsPerUser.option, help: Setting.maxAppPasswordsPerUser.help)
    var maxAppPasswordsPerUser: String?
    @Option(name: Setting.maxPushRegistrationsPerUser.option, help: Setting.maxPushRegistrationsPerUser.help)
    var maxPushRegistrationsPerUser: String?
    @Option(name: Setting.maxSessionsPerUser.option, help: Setting.maxSessionsPerUser.help) var maxSessionsPerUser:
        String?
    @Option(name: Setting.maxWebhooks.option, help: Setting.maxWebhooks.help) var maxWebhooks: String?
    @Option(name: Setting.maxStreamsPerUser.option, help: Setting.maxStreamsPerUser.help) var maxStreamsPerUser: String?
    @Option(name: Setting.maxStreams.option, help: Setting.maxStreams.help) var maxStreams: String?
    @Option(name: Setting.maxSubscriptionsPerCircle.option, help: Setting.maxSubscriptionsPerCircle.help)
    var maxSubscriptionsPerCircle: String?
    @Option(name: Setting.maxCalendarConnectionsPerUser.option, help: Setting.maxCalendarConnectionsPerUser.help)
    var maxCalendarConnectionsPerUser: String?
    @Option(name: Setting.maxMembersPerCircle.option, help: Setting.maxMembersPerCircle.help) var maxMembersPerCircle:
        String?
    @Option(name: Setting.maxPatientsPerCircle.option, help: Setting.maxPatientsPerCircle.help)
    var maxPatientsPerCircle: String?
    @Option(name: Setting.maxOccurrencesPerItem.option, help: Setting.maxOccurrencesPerItem.help)
    var maxOccurrencesPerItem: String?
    @Option(name: Setting.maxPersonalEventsPerUser.option, help: Setting.maxPersonalEventsPerUser.help)
    var maxPersonalEventsPerUser: String?
    @Option(name: Setting.maxPersonalBytesPerUser.option, help: Setting.maxPersonalBytesPerUser.help)
    var maxPersonalBytesPerUser: String?
    @Option(name: Setting.maxPlannedEventsPerUser.option, help: Setting.maxPlannedEventsPerUser.help)
    var maxPlannedEventsPerUser: String?
    @Option(name: Setting.maxPlannedBytesPerUser.option, help: Setting.maxPlannedBytesPerUser.help)
    var maxPlannedBytesPerUser: String?
    @Option(name: Setting.maxOwnCalendarsPerUser.option, help: Setting.maxOwnCalendarsPerUser.help)
    var maxOwnCalendarsPerUser: String?
    @Option(name: Setting.maxOwnResourcesPerUser.option, help: Setting.maxOwnResourcesPerUser.help)
    var maxOwnResourcesPerUser: String?
    @Option(name: Setting.maxOwnCalendarBytesPerUser.option, help: Setting.maxOwnCalendarBytesPerUser.help)
    var maxOwnCalendarBytesPerUser: String?
    @Option(name: Setting.hostQuotaFactor.option, help: Setting.hostQuotaFactor.help) var hostQuotaFactor: String?

    var given: [Setting: String?] {
        [
            .maxFeedsPerUser: maxFeedsPerUser,
            .maxItemsPerCircle: maxItemsPerCircle,
            .maxBytesPerCircle: maxBytesPerCircle,
            .maxEventsPerCircle: maxEventsPerCircle,
            .maxImportsPerDay: maxImportsPerDay,
            .maxImportBytesPerDay: maxImportBytesPerDay,
            .maxDevicesPerUser: maxDevicesPerUser,
            .maxAppPasswordsPerUser: maxAppPasswordsPerUser,
            .maxPushRegistrationsPerUser: maxPushRegistrationsPerUser,
            .maxSessionsPerUser: maxSessionsPerUser,
            .maxWebhooks: maxWebhooks,
            .maxStreamsPerUser: maxStreamsPerUser,
            .maxStreams: maxStreams,
            .maxSubscriptionsPerCircle: maxSubscriptionsPerCircle,
            .maxCalendarConnectionsPerUser: maxCalendarConnectionsPerUser,
            .maxMembersPerCircle: maxMembersPerCircle,
            .maxPatientsPerCircle: maxPatientsPerCircle,
            .maxOccurrencesPerItem: maxOccurrencesPerItem,
            .maxPersonalEventsPerUser: maxPersonalEventsPerUser,
            .maxPersonalBytesPerUser: maxPersonalBytesPerUser,
            .maxPlannedEventsPerUser: maxPlannedEventsPerUser,
            .maxPlannedBytesPerUser: maxPlannedBytesPerUser,
            .maxOwnCalendarsPerUser: maxOwnCalendarsPerUser,
            .maxOwnResourcesPerUser: maxOwnResourcesPerUser,
            .maxOwnCalendarBytesPerUser: maxOwnCalendarBytesPerUser,
            .hostQuotaFactor: hostQuotaFactor,
        ]
    }
}
