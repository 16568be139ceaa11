// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import ICalBridge

extension GoogleCalendar {
    /// The requested lifetime of a channel in seconds: Google's own default.
    private static let lifetime = 604_800

    public func watch(
        _ calendar: String, address: String, secret: String
    ) async throws(ProviderFailure) -> WatchChannel? {
        // Each secret is used only once, so the channel's id is new as well.
        let digest = Array(SHA256.hash(data: Array("\(calendar)\n\(secret)".utf8)))
        let id = Base32.encode(digest, with: Base32.extendedHex)
        let body: JSONValue = [
            "id": .string(id), "type": "web_hook", "address": .string(address), "token": .string(secret),
            "params": ["ttl": .string(String(Self.lifetime))],
        ]
        let call = GoogleCall(method: "POST", path: Self.path(calendar) + "/watch", body: body)
        let channel = try object(try await wire.send(call))
        guard let resource = channel["resourceId"]?.string, (1...1024).contains(resource.utf8.count),
            channel["id"]?.string == id
        else { throw Self.malformed }
        // Google documents a number but sends a string.
        let milliseconds = channel["expiration"]?.integer ?? channel["expiration"]?.string.flatMap { Int($0) }
        let latest = now().adding(seconds: 10 * Self.lifetime)
        let expiry = milliseconds.map { Instant(seconds: $0 / 1000) } ?? now().adding(seconds: Self.lifetime)
        return WatchChannel(id: id, resourceID: resource, expiresAt: min(max(expiry, now()), latest))
    }

    public func unwatch(_ channel: WatchChannel) async throws(ProviderFailure) {
        let body: JSONValue = ["id": .string(channel.id), "resourceId": .string(channel.resourceID)]
        let answer = try await wire.send(GoogleCall(method: "POST", path: "channels/stop", body: body))
        guard (200...299).contains(answer.status) || answer.status == 404 else { throw answer.failure }
    }
}
