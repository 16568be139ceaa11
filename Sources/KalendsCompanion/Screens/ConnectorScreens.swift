// SPDX-License-Identifier: Apache-2.0

public import PhoneTexts

/// The connector's row among others.
public struct ConnectorRow: Hashable, Sendable {
    public let symbol: String
    public let name: String
    public let status: String
    public let subtitle: String

    public init(_ status: ConnectorStatus, _ texts: ConnectorTexts) {
        symbol = texts.symbol
        name = texts.name
        self.status = texts.status(isConnected: status.isConnected)
        subtitle = texts.subtitle(isConnected: status.isConnected)
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
    public init(
        _ status: ConnectorStatus, permission: CalendarAuthorization, wasDisconnected: Bool = false,
        _ texts: ConnectorTexts
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
                    status: texts.status(isConnected: true), account: texts.account,
                    read: Toggle(label: texts.readToggle, isOn: read),
                    write: Toggle(label: texts.writeToggle, isOn: write), note: texts.writeNote,
                    manageButton: texts.managePermissions, disconnectButton: texts.disconnect))
        }
    }
}
