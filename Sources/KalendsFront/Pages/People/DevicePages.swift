// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Pages
import Storage

/// The devices and browsers that are signed in, and what calendar apps made, each of which can be removed.
struct DevicePages: Sendable {
    func add(to routes: inout RouteTable) {
        routes.page(.get, "/app/devices", for: .session) { visit in
            let (quotas, now) = (visit.services.settings.quotas, visit.services.now())
            let own = try visit.caller().session ?? ""
            return try await visit.page(
                try await visit.readOwn { user, _ in
                    DevicesPage(
                        devices: try user.devices(PageRequest(limit: quotas.devicesPerUser)).map(\.shown),
                        sessions: try user.sessions(PageRequest(limit: quotas.sessionsPerUser), now: now).map {
                            $0.shown(isThis: $0.id == own)
                        },
                        calendars: try user.ownCalendars().map(\.shown))
                })
        }
        routes.page(.post, "/app/devices/{device}/delete", for: .session, back: "/app/devices") { visit in
            try await Self.ending(visit, .deviceRemoved) {
                try await visit.services.devices.delete(try visit.id("device"), for: try visit.caller())
            }
        }
        routes.page(.post, "/app/sessions/{session}/delete", for: .session, back: "/app/devices") { visit in
            try await Self.ending(visit, .sessionEnded) {
                try await visit.services.sessions.delete(try visit.id("session"), for: try visit.caller())
            }
        }
        routes.page(.post, "/app/calendars/{calendar}/delete", for: .session, back: "/app/devices") { visit in
            try await Self.ending(visit, .ownCalendarDeleted) {
                try await visit.services.ownCalendars.delete(try visit.id("calendar"), for: try visit.caller())
            }
        }
    }

    /// Returns to the list after `body`, or leads to the sign-in page where the visitor has to sign in again first.
    private static func ending(
        _ visit: PageVisit, _ done: Notice.What, _ body: () async throws -> Void
    ) async throws -> Response {
        do {
            try await body()
            return visit.redirect(to: "/app/devices", done: done)
        } catch let refusal as Refusal where refusal.code == .signInTooOld {
            return visit.signIn(to: "/app/devices")
        }
    }
}

extension ListedOwnCalendar {
    fileprivate var shown: DevicesPage.OwnCalendar { DevicesPage.OwnCalendar(id: id, name: name, entries: entries) }
}

extension Device {
    var shown: DevicesPage.Device {
        DevicesPage.Device(
            id: id, name: name ?? deviceID, platform: platform, since: registeredAt, lastSeenAt: lastUsedAt)
    }
}

extension Session {
    fileprivate func shown(isThis: Bool) -> DevicesPage.Session {
        DevicesPage.Session(id: id, since: createdAt, lastSeenAt: lastUsedAt, isThis: isThis)
    }
}
