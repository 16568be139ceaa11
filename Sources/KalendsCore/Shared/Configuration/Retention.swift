// SPDX-License-Identifier: Apache-2.0

/// How many days the server keeps its records about people's use of it.
///
/// The audit trail is kept forever, and what belongs to a circle is removed with the circle.
package struct Retention: Sendable {
    /// Single accesses of feeds, with their networks.
    package var accesses = 90
    /// Counts of accesses by day and kind of client.
    package var accessCounts = 400
    /// What was there before changes of a circle's items.
    package var activity = 30
    /// Runs that changed something, the journal of their writes, and resolved conflicts.
    package var runs = 90
    /// That an event was deleted on both sides, so that an old copy cannot bring it back.
    package var deletions = 365
    /// Messages to webhooks, after they were delivered or given up.
    package var deliveries = 30
    /// Files that were read and not taken over.
    package var previews = 1
    /// Reports of imports, and what was there before them.
    package var imports = 365

    /// Each of them with the setting that changes it.
    package static let settings: [NumberSetting<Retention>] = [
        days(
            "keepAccessDays", \.accesses,
            "Days for which single accesses of feeds are kept; the newest 1,000 of each feed stay longer."),
        days("keepAccessCountDays", \.accessCounts, "Days for which counts of accesses by day and client are kept."),
        days(
            "keepActivityDays", \.activity, to: CircleChanges.keptDays,
            "Days for which earlier contents of a circle's items are kept, so that changes can be undone."),
        days(
            "keepRunDays", \.runs,
            "Days for which runs of connections, their writes and resolved conflicts are kept, and can be undone."),
        days(
            "keepDeletionDays", \.deletions, from: 30,
            "Days for which it is known that an event was deleted on both sides; an older copy could bring it back."),
        days("keepDeliveryDays", \.deliveries, "Days for which messages to webhooks are listed after they ended."),
        days("keepPreviewDays", \.previews, "Days for which a file that was read, but not imported, is kept."),
        days(
            "keepImportDays", \.imports, from: 30,
            "Days for which the report of an import is kept, and for which it can be undone."),
    ]

    private static func days(
        _ name: String, _ path: any WritableKeyPath<Retention, Int> & Sendable, from least: Int = 1,
        to most: Int = 3650, _ about: String
    ) -> NumberSetting<Retention> {
        NumberSetting(name, path, in: least...most, standard: Retention(), about)
    }
}
