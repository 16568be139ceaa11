// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// Users' settings that belong to no circle.
package struct Profiles: Sendable {
    /// A user, possibly without any settings.
    package struct Shown: Sendable {
        package let id: String
        package let user: User?
    }

    let acts: Acts

    package func get(_ user: String, for caller: Caller) async throws -> Shown {
        let stored = try await acts.store.read { try Rights.own(of: user, for: caller.identity, in: $0).stored }
        return Shown(id: user, user: stored)
    }

    /// Sets the zone of a user's own events; nil removes it.
    package func put(
        _ user: String, timeZone: TimeZoneReference?, if condition: Precondition<Shown>, for caller: Caller
    ) async throws -> (Shown, isNew: Bool) {
        try await acts.act(on: .ownCalendar(of: user), for: caller) { act in
            let old = try act.transaction.user(user)
            try condition.check(old.map { Shown(id: user, user: $0) })
            let new = try act.transaction.putUser(user, timeZone: timeZone?.identifier, now: act.now)
            if old?.timeZone != new.timeZone { try act.transaction.touchOwnFeeds(of: user, now: act.now) }
            return .unnoted("Where people are is their own concern.", (Shown(id: user, user: new), old == nil))
        }
    }

    /// Sets the language of a user's pages, and of the notices in their feeds; nil for the language that the browser
    /// requests, and for English in feeds.
    package func setLanguage(_ language: String?, of user: String, for caller: Caller) async throws {
        try await acts.act(on: .notices(of: user), for: caller) { act in
            let old = try act.transaction.user(user)?.language
            try act.transaction.putLanguage(language, of: user, now: act.now)
            if old != language { try act.transaction.touchNotices(ofUser: user, now: act.now) }
            return .unnoted("Which language people read is their own concern.", ())
        }
    }
}
