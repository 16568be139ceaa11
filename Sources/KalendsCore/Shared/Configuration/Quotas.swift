// SPDX-License-Identifier: Apache-2.0

import Storage

/// How much one user or one circle may have, so that nobody can fill the server.
///
/// When the host application acts for nobody in particular, its quotas are larger by a factor.
package struct Quotas: Sendable {
    /// Feeds of a user in a circle, including ended ones until they are deleted.
    package var feedsPerUser = 50
    /// Items that a circle has ever had: a deleted item keeps its UID and still counts.
    var itemsPerCircle = 1_000_000
    /// Bytes of a circle's items as they are stored, and of their changed occurrences.
    var bytesPerCircle = 256 << 20
    /// Imported events of a circle, including those of the calendars it follows.
    var eventsPerCircle = 500_000
    /// Bytes of the earlier contents of a circle's items, kept so that changes can be undone: the oldest make room.
    var keptBytesPerCircle = 64 << 20
    var importsPerDay = 500
    /// Bytes of files that are imported into a circle within a day.
    var importBytesPerDay = 4 << 30
    package var devicesPerUser = 50
    package var appPasswordsPerUser = 50
    package var pushRegistrationsPerUser = 500
    /// A further session ends the session that has been unused for longest.
    package var sessionsPerUser = 100
    var webhooks = 200
    /// Streams of changes that one user or host application has open at a server, and all together.
    package var streamsPerUser = 20
    package var streams = 5_000
    package var subscriptionsPerCircle = 50
    /// Calendars that a user synchronizes with one circle.
    package var connectionsPerUser = 20
    /// Members and patients of a circle, including former ones, whose names stay.
    var membersPerCircle = 1_000
    var patientsPerCircle = 1_000
    /// Changed occurrences of one series, and the bytes of their contents: with the series, all of them go and come back
    /// in one transaction, during which nobody else can write.
    var occurrencesPerItem = 2_000
    static let occurrenceBytesPerItem = 2 << 20
    /// A user's own events, including deleted ones, which devices still have to learn about.
    var personalEventsPerUser = 200_000
    /// Bytes of the text of these events; making a feed that shows them needs several times as much memory.
    var personalBytesPerUser = 16 << 20
    /// All planned events can be deleted in one transaction, during which nobody else can write.
    var plannedEventsPerUser = 20_000
    var plannedBytesPerUser = 8 << 20
    /// Calendars of a user's own, and all their resources with the bytes of their texts.
    var ownCalendarsPerUser = 100
    var ownResourcesPerUser = 200_000
    var ownCalendarBytesPerUser = 256 << 20
    /// Conflicts of a connection that wait for a decision, and their bytes: each run reads all of them, so that with
    /// more of either it does not run.
    var conflictsPerConnection = 5_000
    var conflictBytesPerConnection = 16 << 20
    /// Bytes of the records about a connection's writes and its resolved conflicts: the oldest make room.
    var recordBytesPerConnection = 64 << 20
    var hostFactor = 10

    /// Returns the quotas of a caller, which are `hostFactor` times larger when the host application acts for no user.
    func clamped(to caller: Identity) -> Quotas {
        guard caller.isInstallation else { return self }
        var quotas = self
        for path in Self.settings.map(\.path) {
            let (number, isTooMuch) = self[keyPath: path].multipliedReportingOverflow(by: hostFactor)
            quotas[keyPath: path] = isTooMuch ? .max : number
        }
        // These are the same for everybody, because one write holds them, or apply to the host application only.
        (quotas.webhooks, quotas.streams, quotas.hostFactor) = (webhooks, streams, hostFactor)
        quotas.occurrencesPerItem = occurrencesPerItem
        return quotas
    }
}

extension Quotas {
    /// Throws 409 if a series has too many changed occurrences, or too many bytes of them, and a change gives it more.
    func check(_ changed: Usage, more count: Int, _ bytes: Int) throws {
        if count > 0, changed.count > occurrencesPerItem {
            throw Refusal.quota("A series has", occurrencesPerItem, "changed occurrences")
        }
        if bytes > 0, changed.bytes > Self.occurrenceBytesPerItem {
            throw Refusal.quota("The changed occurrences of a series have", Self.occurrenceBytesPerItem, "bytes")
        }
    }
}

extension Refusal {
    /// Creates a 409 refusal for a request that would exceed a quota.
    ///
    /// - Parameter what: the start of the sentence, such as “A circle has”; `things` is its end.
    static func quota(_ what: String, _ most: Int, _ things: String) -> Refusal {
        let detail = "\(what) at most \(most) \(things)."
        // Also a fault, for answers that report on each line separately.
        return Refusal(
            .conflict, code: .limitReached, detail: detail,
            faults: [Fault(pointer: "", code: .tooMany, message: detail)])
    }
}
