// SPDX-License-Identifier: Apache-2.0

@testable import Pages

extension Samples {
    private func phone(_ seen: Double, _ trouble: ConnectorPhone.Trouble? = nil) -> ConnectorPhone {
        ConnectorPhone(
            name: text("Maria’s iPhone"), lastSeenAt: Self.hours(seen),
            trouble: trouble.map { (what: $0, at: Self.hours(-3)) })
    }

    var connectorSamples: [Sample] {
        let on = ConnectorState.connected(read: true, write: true)
        let plain = [
            Sample(name: "connectors", page: ConnectorsPage(apple: .notConnected)),
            Sample(
                name: "connectors-connected",
                page: ConnectorsPage(apple: .connected(read: true, write: false), phone: phone(-0.4))),
            Sample(name: "connectors-quiet", page: ConnectorsPage(apple: on, phone: phone(-100))),
            Sample(
                name: "connectors-permission", page: ConnectorsPage(apple: on, phone: phone(-0.4, .permissionRevoked))),
            Sample(name: "apple", page: AppleConnectorPage(state: .notConnected)),
            Sample(name: "apple-ended", page: AppleConnectorPage(state: .notConnected, wasDisconnected: true)),
            Sample(
                name: "apple-connected",
                page: AppleConnectorPage(state: .connected(read: true, write: false), phone: phone(-0.4)),
                ask: "disconnect"),
            Sample(name: "apple-waiting", page: AppleConnectorPage(state: on)),
            Sample(name: "apple-quiet", page: AppleConnectorPage(state: on, phone: phone(-100))),
        ]
        return plain
            + ConnectorPhone.Trouble.allCases.map { trouble in
                Sample(
                    name: "apple-\(trouble.rawValue)", page: AppleConnectorPage(state: on, phone: phone(-0.4, trouble)))
            }
    }
}
