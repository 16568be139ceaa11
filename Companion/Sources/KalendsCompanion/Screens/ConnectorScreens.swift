// SPDX-License-Identifier: Apache-2.0

public import PhoneTexts

/// The connector's row among others.
public struct ConnectorRow: Hashable, Sendable {
    public let symbol: String
    public let name: String
    public let status: String
    public let subtitle: String

    /// - Parameter pause: the pause of the last sync, which knows whether the connection was ended on the server.
    public init(_ status: ConnectorStatus, pause: SyncPause? = nil, _ texts: ConnectorTexts) {
        let isEnded = pause == .disconnectedThere
        symbol = texts.symbol
        name = texts.name
        self.status = texts.status(isConnected: status.isConnected && !isEnded)
        subtitle =
            status.isConnected && isEnded ? texts.disconnectedThere : texts.subtitle(isConnected: status.isConnected)
    }
}

extension SyncPause {
    /// A sentence that says what the person can do.
    public func text(_ texts: ConnectorTexts) -> String {
        switch self {
        case .notConnected: texts.visitConnectors
        case .switchedOff: texts.switchedOff
        case .switchedOffThere: texts.switchedOffThere
        case .disconnectedThere: texts.disconnectedThere
        case .permissionMissing: SyncProblem.permissionDenied.text
        case .calendarGone: "A chosen calendar is not there. Nothing was deleted; wait for it, or choose another."
        case .calendarReadOnly: "The calendar that shows the server's events cannot be written. Choose another."
        case .held: "Many events are missing at once. Nothing was deleted; approve it if they should be."
        case .marksNotKept:
            "The calendar's account does not keep the addresses of events, so changes would not arrive. "
                + "Choose a calendar of another account."
        }
    }
}

/// The connector's own screen.
public enum ConnectorScreen: Hashable, Sendable {
    case notConnected(NotConnected)
    case connected(Connected)

    public struct NotConnected: Hashable, Sendable {
        public let explanation: String
        public let capabilities: [Capability]
        public let button: String
        /// Shown in the row with its button when the system's settings forbid access.
        public let denial: Denial?
        /// Shown once after a disconnect.
        public let notice: String?
    }

    public struct Denial: Hashable, Sendable {
        public let message: String
        public let button: String
    }

    public struct Connected: Hashable, Sendable {
        public let status: String
        /// Shown when the connection was ended on the server.
        public let notice: String?
        public let account: String
        public let read: Toggle
        public let write: Toggle
        public let note: String
        public let manageButton: String
        public let disconnectButton: String
    }

    public struct Toggle: Hashable, Sendable {
        public let label: String
        public let isOn: Bool
    }

    /// - Parameters:
    ///   - permission: the system's permission, which explains why there is no connection.
    ///   - wasDisconnected: whether the person has just disconnected.
    ///   - pause: the pause of the last sync, which knows whether the connection was ended on the server.
    public init(
        _ status: ConnectorStatus, permission: CalendarAuthorization, wasDisconnected: Bool = false,
        pause: SyncPause? = nil, _ texts: ConnectorTexts
    ) {
        switch status {
        case .notConnected:
            let isDenied = permission == .denied || permission == .restricted || permission == .writeOnly
            self = .notConnected(
                NotConnected(
                    explanation: texts.explanation, capabilities: texts.capabilities, button: texts.connect,
                    denial: isDenied ? Denial(message: texts.denied, button: texts.openSettings) : nil,
                    notice: wasDisconnected ? texts.disconnected : nil))
        case .connected(let read, let write):
            self = .connected(
                Connected(
                    status: texts.status(isConnected: pause != .disconnectedThere),
                    notice: pause == .disconnectedThere ? texts.disconnectedThere : nil, account: texts.account,
                    read: Toggle(label: texts.readToggle, isOn: read),
                    write: Toggle(label: texts.writeToggle, isOn: write), note: texts.writeNote,
                    manageButton: texts.managePermissions, disconnectButton: texts.disconnect))
        }
    }
}
