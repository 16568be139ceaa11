// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
import ICalBridge
import Storage

extension Connection {
    /// Returns another connection of the circle with the same calendar under the same id.
    func otherOfSameCalendar(in transaction: any ReadTransaction) throws -> Connection? {
        guard let calendarID else { return nil }
        return try transaction.connections(in: circleID, after: "", limit: 10_000).first {
            $0.id != id && $0.provider == provider && $0.calendarID == calendarID
        }
    }
}

/// What the contents of a connection's calendar depend on besides the items.
struct ConnectionParts: Sendable {
    let connection: Connection
    let zone: TimeZoneReference
    let configuration: ConnectionConfiguration
    let titlePrefix: String
    let kinds: ItemKinds
    /// Whether the user may change the circle's schedule, so that moving an event in the calendar moves the item here.
    let mayWrite: Bool
    /// The id that distinguishes this installation's events from those of every other installation.
    let installation: String
    /// Connections that this user had in this circle before: their events are recognized.
    let former: Set<ByteString>
    /// The circle's other connections, which write their own events.
    let others: Set<ByteString>
    /// Whether another one of them has the same calendar under the same id: its person was asked when it was chosen.
    let sharesIt: Bool

    /// The version of the mapping, which is raised when items become different entries than before.
    private static let mapping = 1

    /// Looks up what a connection depends on. A deleted circle shows nothing.
    init(_ connection: Connection, in transaction: any ReadTransaction, _ settings: ServerSettings) throws {
        self.connection = connection
        let circle = try transaction.circle(connection.circleID)
        let role = try circle.flatMap { try transaction.member(connection.userID, in: $0.id)?.role }
        zone = try circle?.zone ?? Self.utc()
        installation = try transaction.installationID()
        former = Set(
            try transaction.formerConnections(of: connection.userID, in: connection.circleID).map { ByteString($0) })
        others = Set(try transaction.otherConnections(than: connection).map { ByteString($0) })
        sharesIt = try connection.otherOfSameCalendar(in: transaction) != nil
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

    /// Returns a builder that makes items into components as a feed with the same settings does.
    func builder(_ names: CircleNames) -> EntryBuilder {
        EntryBuilder(
            look: FeedRenderKey(
                style: CareStyle(
                    titlePrefix: titlePrefix, detail: configuration.feed.level,
                    includesReminders: configuration.feed.includeReminders),
                zone: zone, sequenceOffset: 0, shownChangedAt: 0, linkTemplate: nil),
            names: names, kinds: kinds)
    }

    /// Returns the window, in whole days of the circle's zone.
    func window(now: Int) -> FeedWindow {
        FeedWindow(configuration.feed, today: FeedDay(zone, now: now).date, zone: zone)
    }

    /// Returns what two listings must have in common before an event missing from the second means anything.
    func fingerprint() throws -> Fingerprint {
        // How often and in which direction a connection runs does not change what is shown.
        var shown = configuration
        (shown.syncIntervalMinutes, shown.twoWay) = (0, true)
        (shown.feed.pastDays, shown.feed.futureDays) = (0, 0)
        let text = try "\(shown.stored(kinds))\n\(titlePrefix)\n\(zone.identifier)"
        return Fingerprint(
            account: connection.accountID ?? "", calendar: connection.calendarID ?? "",
            pastDays: configuration.feed.pastDays, futureDays: configuration.feed.futureDays,
            filter: Hexadecimal.text(SHA256.hash(data: Array(text.utf8)).prefix(16)), mapping: Self.mapping)
    }
}
