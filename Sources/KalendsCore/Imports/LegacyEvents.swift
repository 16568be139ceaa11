// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Events of an earlier version that did not record who may see them.
package enum LegacyEvents {
    /// Assigns the private ones to the person who imported them; this must happen before anything else reads them.
    package static func sort(_ store: any Store) async throws {
        while true {
            let found = try await store.read { try $0.unsortedEvents(limit: 200) }
            if found.isEmpty { return }
            try await store.recordInSteps(
                found.map { place in { try sort(place.uid, in: place.circle, $0) } })
        }
    }

    private static func sort(_ uid: String, in circleID: String, _ transaction: any WriteTransaction) throws {
        guard let circle = try transaction.circle(circleID) else {
            return try transaction.noteSorted(uid: uid, in: circleID)
        }
        let events = try transaction.importedEvents(uids: [uid], in: circle).map(ImportedEvent.init)
        for (source, components) in Dictionary(grouping: events, by: \.record.source) {
            // A series with a private component was private as a whole.
            guard let hidden = components.first(where: \.event.isPrivate) else { continue }
            let user = hidden.record.importedBy
            try transaction.sortEvents(
                uid: uid, of: source, in: circleID, to: source.isSubscription ? source : .own(user), visibleTo: user)
        }
        try transaction.noteSorted(uid: uid, in: circleID)
    }
}
