// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
import ICalBridge
import Logging
import Storage

extension ConnectionRun {
    /// Asks the provider to report changes, if it can do so and can reach this server; an existing channel is renewed
    /// after half of its lifetime. Failures do not matter: the regular runs find what was not reported.
    func watch(_ own: Connection, _ opened: OpenedCalendar) async {
        guard let address = Self.address(for: own.provider, context.settings.publicURL) else { return }
        do {
            let now = context.now()
            let known = try await context.store.read { try $0.syncChannels(of: own.id) }
            if let best = known.first, best.renewAt > now { return }
            let calendar = own.calendarID ?? ""
            let secret = PushSecret.make()
            guard let channel = try await opened.provider.watch(calendar, address: address, secret: secret) else {
                return
            }
            let (end, hash) = (channel.expiresAt.milliseconds, PushSecret.hash(secret))
            var row = SyncChannelRow(
                id: channel.id, connectionID: own.id, secretHash: hash, expiresAt: end,
                renewAt: now + max(0, end - now) / 2, content: try SyncContent.text(channel))
            row.lastHeardAt = known.first.flatMap { $0.isAlive(now: now) ? $0.lastHeardAt : nil }
            try await context.store.record { [row, sync = context.sync] transaction in
                guard try transaction.connection(own.id) != nil else { return }
                var row = row
                // Microsoft has reached the address before it answers; Google's first message may come before its answer.
                if own.provider == .outlook || sync.heardEarly(row.id, hash) { row.lastHeardAt = now }
                try transaction.putSyncChannel(row)
            }
            for old in known where old.id != channel.id {
                try? await opened.provider.unwatch(try storedRecord(old.content))
                try await context.store.record { try $0.deleteSyncChannel(old.id) }
            }
        } catch {
            logger.debug(
                "changes to a calendar are not reported",
                metadata: ["connection": "\(own.id)", "provider": "\(own.provider)"])
        }
    }

    /// Returns the address to which a provider should report changes, over TLS or on this machine; nil if it cannot
    /// report any.
    static func address(for provider: Connection.Provider, _ publicURL: String) -> String? {
        let path: String
        switch provider {
        case .google: path = "/v1/hooks/google"
        case .outlook: path = "/v1/hooks/outlook"
        case .caldav, .apple: return nil
        }
        let isReachable = publicURL.hasPrefix("https://") || TokenSettings.isSafe(publicURL)
        return isReachable ? publicURL + path : nil
    }
}

/// The secret that comes back with each report of a change, and proves that the provider sent it.
enum PushSecret {
    /// Returns a new secret of 43 letters, digits, hyphens and underscores.
    static func make() -> String { Base64URL.encode(.random(32)) }

    /// Returns the hash of a secret; only the hash is stored.
    static func hash(_ secret: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Array("kalends/push/\(secret)".utf8)))
    }
}
