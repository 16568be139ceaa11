// SPDX-License-Identifier: Apache-2.0

/// How much of everything one user or one circle may have, so that nobody fills the server.
///
/// The host application, when it speaks for nobody in particular, may go beyond them by a factor.
package struct Quotas: Sendable {
    /// Feeds of a user in a circle, including ended ones until they are deleted.
    package var feedsPerUser = 50
    /// Items of a circle that were ever put: a deleted one keeps its UID and counts.
    var itemsPerCircle = 1_000_000
    /// Bytes of a circle's items as they are stored.
    var bytesPerCircle = 256 << 20
    /// Imported events of a circle, those of calendars that it follows among them.
    var eventsPerCircle = 500_000
    var importsPerDay = 500
    /// Bytes of files that are imported into a circle within a day.
    var importBytesPerDay = 4 << 30
    package var devicesPerUser = 50
    /// The session that was unused for longest makes room.
    package var sessionsPerUser = 100
    var webhooks = 200
    package var subscriptionsPerCircle = 50
    /// Calendars that a user keeps in step with one circle.
    package var connectionsPerUser = 20
    /// Members and patients of a circle, including former ones, whose names stay.
    var membersPerCircle = 1_000
    var patientsPerCircle = 1_000
    /// Changed occurrences of one series.
    var occurrencesPerItem = 5_000
    /// A user's own events, deleted ones too, which devices have to hear of.
    var personalEventsPerUser = 200_000
    /// Bytes of their texts, which a feed that shows them holds several times over while it is made.
    var personalBytesPerUser = 16 << 20
    /// All of them can go at once, which nobody else writes beside.
    var plannedEventsPerUser = 20_000
    var plannedBytesPerUser = 8 << 20
    var hostFactor = 10

    /// Those that hold for a caller.
    func held(to caller: Identity) -> Quotas {
        guard caller.isInstallation else { return self }
        var quotas = self
        for (_, path) in Self.settings {
            let (number, isTooMuch) = self[keyPath: path].multipliedReportingOverflow(by: hostFactor)
            quotas[keyPath: path] = isTooMuch ? .max : number
        }
        // Neither is anybody's but the host's.
        (quotas.webhooks, quotas.hostFactor) = (webhooks, hostFactor)
        return quotas
    }
}

extension Refusal {
    /// 409 for one more than there may be.
    ///
    /// - Parameter what: begins the sentence: “A circle has”; `things` ends it.
    static func quota(_ what: String, _ most: Int, _ things: String) -> Refusal {
        let detail = "\(what) at most \(most) \(things)."
        // As a fault too, for what has lines.
        return Refusal(
            .conflict, code: .limitReached, detail: detail,
            faults: [Fault(pointer: "", code: .tooMany, message: detail)])
    }
}
