// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import KalendsCore
import Pages
import Storage

/// A person's connectors: what Kalends may do with the calendars on their phone.
struct ConnectorPages: Sendable {
    private static let list = "/app/connectors"
    private static let apple = "/app/connectors/apple"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.list, for: .session) { visit in
            try await visit.page(
                try await visit.readOwn { user, _ in
                    let shown = try user.appleConnector
                    return ConnectorsPage(apple: shown.state, phone: shown.phone)
                })
        }
        routes.page(.get, Self.apple, for: .session) { visit in
            try await visit.page(
                try await visit.readOwn { user, _ in
                    let shown = try user.appleConnector
                    return AppleConnectorPage(state: shown.state, phone: shown.phone)
                })
        }
        routes.page(.post, Self.apple, for: .session, back: Self.apple) { visit in
            try await visit.services.appleConnector.use(
                read: visit.form.isOn("read"), write: visit.form.isOn("write"), for: try visit.caller())
            return visit.redirect(to: Self.apple, done: .appleChanged)
        }
        routes.page(.post, "\(Self.apple)/connect", for: .session, back: Self.apple) { visit in
            try await visit.services.appleConnector.connect(for: try visit.caller())
            return visit.redirect(to: Self.apple, done: .appleConnected)
        }
        routes.page(.post, "\(Self.apple)/disconnect", for: .session, back: Self.apple) { visit in
            try await visit.services.appleConnector.disconnect(for: try visit.caller())
            return visit.redirect(to: Self.apple, done: .appleDisconnected)
        }
    }
}

extension AppleConnector.Shown {
    var state: ConnectorState { uses.map { .connected(read: $0.read, write: $0.write) } ?? .notConnected }

    var phone: ConnectorPhone? {
        device.map { device in
            ConnectorPhone(
                name: device.name ?? device.deviceID, lastSeenAt: seenAt,
                trouble: problem.flatMap { what, at in
                    ConnectorPhone.Trouble(text: what.rawValue).map { (what: $0, at: at) }
                })
        }
    }
}
