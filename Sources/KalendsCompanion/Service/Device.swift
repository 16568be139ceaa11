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

    public init(ok: Bool = true, user: String, serverTime: Int, capabilities: [String] = []) {
        self.ok = ok
        self.user = user
        self.serverTime = serverTime
        self.capabilities = capabilities
    }
}
