// SPDX-License-Identifier: Apache-2.0

import Storage

/// A problem that a person should look at, and what to do about it.
package struct ConnectionAttention: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case needsReconnect, calendarGone, providerUnavailable, heldRun, openConflicts, failing
    }

    package var kind: Kind
    /// When the problem began, in milliseconds since 1970.
    package var at: Int
    package var message: String
    /// The number of open conflicts.
    package var count: Int?
    /// The run that waits for a person's decision.
    package var runID: String?

    /// The number of consecutive failures after which a problem no longer counts as temporary.
    private static let manyFailures = 3

    static func all(
        of own: Connection, conflicts: Int, heldRun: HeldRun?, _ settings: ConnectionSettings
    ) -> [ConnectionAttention] {
        var found: [ConnectionAttention] = []
        if let missing = settings.missing(for: own.provider).first {
            found.append(
                ConnectionAttention(
                    kind: .providerUnavailable, at: own.stateAt,
                    message: "\(own.provider.name) is not set up on this server any more: its operator has to set "
                        + "\(missing.variable)."))
        }
        switch own.state {
        case .needsReconnect:
            found.append(
                ConnectionAttention(
                    kind: .needsReconnect, at: own.stateAt,
                    message: own.provider == .caldav
                        ? "The server no longer accepts the password. Enter it again."
                        : "\(own.provider.name) no longer accepts our access. Sign in again."))
        case .calendarGone:
            found.append(
                ConnectionAttention(
                    kind: .calendarGone, at: own.stateAt,
                    message: "The calendar was deleted or can no longer be written. Choose another one."))
        default: break
        }
        if let heldRun {
            found.append(
                ConnectionAttention(
                    kind: .heldRun, at: heldRun.at,
                    message: "So many events would be deleted that nothing was written. Look at the run, then approve "
                        + "it or leave it.", runID: heldRun.id))
        }
        if conflicts > 0 {
            found.append(
                ConnectionAttention(
                    kind: .openConflicts, at: own.lastSyncAt ?? own.stateAt,
                    message: conflicts == 1
                        ? "One item was changed on both sides. Say which is right."
                        : "\(conflicts) items were changed on both sides. Say which are right.", count: conflicts))
        }
        if own.failures >= manyFailures, own.state == .active {
            found.append(
                ConnectionAttention(
                    kind: .failing, at: own.lastSyncAt ?? own.stateAt,
                    message: "The last \(own.failures) tries failed. They go on at longer intervals.",
                    count: own.failures))
        }
        return found
    }
}
