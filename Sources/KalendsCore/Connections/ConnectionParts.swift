// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
import ICalBridge
import Storage

/// What the contents of a connection's calendar depend on besides the items.
struct ConnectionParts: Sendable {
    let connection: Connection
    let zone: TimeZoneReference
    let configuration: ConnectionConfiguration
    let titlePrefix: String
    let kinds: ItemKinds
    /// Whether the user may change the circle's schedule, so that what they move in their calendar is moved here.
    let mayWrite: Bool
    /// What distinguishes this installation's events from those of every other one.
    let installation: String
    /// Connections of this user in this circle that are gone: their events are found again.
    let former: Set<ByteString>

    /// Rises when items become other entries than in the version before.
    private static let mapping = 1

    /// Looks up what a connection depends on. Of a circle that was deleted nothing is shown.
    init(_ connection: Connection, in transaction: any ReadTransaction, _ settings: ServerSettings) throws {
        self.connection = connection
        let circle = try transaction.circle(connection.circleID)
        let role = try circle.flatMap { try transaction.member(connection.userID, in: $0.id)?.role }
        zone = try circle?.zone ?? Self.utc()
        installation = try transaction.installationID()
        former = Set(
            try transaction.formerConnections(of: connection.userID, in: connection.circleID).map { ByteString($0) })
        kinds = settings.kinds
        configuration = try ConnectionConfiguration(stored: connection.config, kinds)
        titlePrefix = settings.titlePrefix
        mayWrite = role.map { $0.right >= .write } ?? false
    }

    private static func utc() throws -> TimeZoneReference {
        guard let zone = TimeZoneReference("UTC") else {
            throw StorageError.unusable("This machine's tzdata lacks the zone UTC.")
        }
        return zone
    }

    /// Makes items into components as a feed of the same wishes does.
    func builder(_ names: CircleNames) -> EntryBuilder {
        EntryBuilder(
            look: FeedLook(
                style: CareStyle(
                    titlePrefix: titlePrefix, detail: configuration.feed.level,
                    includesReminders: configuration.includeReminders),
                zone: zone, sequenceOffset: 0, shownChangedAt: 0, linkTemplate: nil),
            names: names, kinds: kinds)
    }

    /// Whole days of the circle's zone.
    func window(now: Int) -> FeedWindow {
        FeedWindow(configuration.feed, today: FeedDay(zone, now: now).date, zone: zone)
    }

    /// What a listing has to have in common with the last one, before an event that it lacks means anything.
    func fingerprint() throws -> Fingerprint {
        // How often it runs, and which way, shows nothing else.
        var shown = configuration
        (shown.syncIntervalMinutes, shown.twoWay) = (0, true)
        (shown.pastDays, shown.futureDays) = (0, 0)
        let text = try "\(shown.stored(kinds))\n\(titlePrefix)\n\(zone.identifier)"
        return Fingerprint(
            account: connection.accountID ?? "", calendar: connection.calendarID ?? "",
            pastDays: configuration.pastDays, futureDays: configuration.futureDays,
            filter: Hexadecimal.text(SHA256.hash(data: Array(text.utf8)).prefix(16)), mapping: Self.mapping)
    }
}
