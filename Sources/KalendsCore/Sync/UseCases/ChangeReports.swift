// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
package import Storage

/// Takes providers' reports of changed calendars; each report makes its connection run soon.
package struct ChangeReports: Sendable {
    let context: SyncContext

    /// Milliseconds for which reports are collected: a provider often reports one change several times.
    static let collecting = 5_000

    /// Takes reports; reports without the secret of their channel, and those about an unknown channel, change nothing.
    package func take(_ notices: [PushNotice], from provider: Connection.Provider) async throws {
        let (now, sync) = (context.now(), context.sync)
        // All reports are looked up in one transaction, since anybody can send a thousand of them.
        let found = try await context.store.read { transaction in
            var known: [(PushNotice, SyncChannelRow)] = []
            for notice in notices {
                guard let secret = notice.secret?.reveal() else { continue }
                guard let row = try transaction.syncChannel(notice.channel) else {
                    if notice.what == .opened { sync.noteEarly(notice.channel, PushSecret.hash(secret)) }
                    continue
                }
                guard PushSecret.hash(secret).utf8.isSameSecret(as: row.secretHash.utf8)
                else { continue }
                known.append((notice, row))
            }
            return known
        }
        guard !found.isEmpty else { return }
        try await context.store.record { transaction in
            for (notice, row) in found {
                guard let own = try transaction.connection(row.connectionID), own.provider == provider else { continue }
                var row = row
                row.lastHeardAt = now
                switch notice.what {
                case .opened: try transaction.putSyncChannel(row)
                case .renewalWanted:
                    row.renewAt = now
                    try transaction.putSyncChannel(row)
                case .ended: try transaction.deleteSyncChannel(row.id)
                case .changed, .missed: try transaction.putSyncChannel(row)
                }
                guard notice.what != .opened else { continue }
                try transaction.putPendingSync(
                    PendingSync(connectionID: own.id, kind: .push, dueAt: now + Self.collecting), now: now)
            }
        }
    }
}
