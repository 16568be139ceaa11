// SPDX-License-Identifier: Apache-2.0

public struct DeviceRegistration: Hashable, Sendable, Codable {
    public var label: String?
    /// The device's own id; the server makes one when this is nil.
    public var deviceId: String?
    public var platform: String?

    public init(label: String? = nil, deviceId: String? = nil, platform: String? = nil) {
        self.label = label
        self.deviceId = deviceId
        self.platform = platform
    }
}

public struct RegisteredDevice: Hashable, Sendable, Codable {
    public struct Device: Hashable, Sendable, Codable {
        public var id: String
        public var deviceId: String

        public init(id: String, deviceId: String) {
            self.id = id
            self.deviceId = deviceId
        }
    }

    /// A secret that is shown only this once.
    public var deviceToken: String
    public var device: Device

    public init(deviceToken: String, device: Device) {
        self.deviceToken = deviceToken
        self.device = device
    }
}

/// The part of the response of `GET /sync/apple/status` that a device uses.
public struct ServiceStatus: Hashable, Sendable, Codable {
    public var ok: Bool
    /// The user's id.
    public var user: String
    /// Milliseconds since 1970.
    public var serverTime: Int
    public var capabilities: [String]
    /// The connector as the server's page shows it; nil from an earlier server.
    public var connector: ConnectorThere?

    public init(
        ok: Bool = true, user: String, serverTime: Int, capabilities: [String] = [], connector: ConnectorThere? = nil
    ) {
        self.ok = ok
        self.user = user
        self.serverTime = serverTime
        self.capabilities = capabilities
        self.connector = connector
    }
}

/// The Apple connector as the server has it.
public struct ConnectorThere: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        case connected, notConnected
        /// The connection was ended on the server, on its page or by its API.
        case disconnected
    }

    public var state: State
    /// The two toggles of the server's page.
    public var read: Bool
    public var write: Bool

    public init(state: State, read: Bool, write: Bool) {
        self.state = state
        self.read = read
        self.write = write
    }
}
