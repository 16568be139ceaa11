// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage
import Synchronization

/// How long a command waits for whoever holds the database, and what it says meanwhile.
///
/// Whoever holds it is a server that starts, runs or stops, or a command on its short way. A busy machine may need many
/// seconds for what takes a tenth of one, and for each of several commands that go before this one.
final class LocalWait: Sendable {
    private static let patience = Duration.seconds(30)
    /// How long it is normal to wait.
    private static let silence = Duration.seconds(2)

    private let settings: ServerSettings
    private let since = Mutex(ContinuousClock.now)
    private let hasTold = Mutex(false)
    /// Who held it when waiting began, as far as the system shows that; nil before.
    private let first = Mutex<Int??>(nil)

    init(_ settings: ServerSettings) { self.settings = settings }

    /// How much longer is waited.
    var left: Duration { since.withLock { $0 } + Self.patience - .now }

    /// Notes that there was an answer, so that waiting begins again.
    func answered() { since.withLock { $0 = .now } }

    /// Says once what is waited for when it takes long; throws when it takes too long.
    func goOn() throws {
        if left <= .zero || first.withLock({ $0 == nil }) { look() }
        guard left > .zero else {
            throw LocalClient.Failure(
                description: "\(sentence) Given up after \(Self.patience.components.seconds) seconds.")
        }
        guard left < Self.patience - Self.silence else { return }
        let isNews = hasTold.withLock { hasTold in
            defer { hasTold = true }
            return !hasTold
        }
        if isNews { Console.error("Waiting: \(sentence)") }
    }

    /// Waiting begins again with another holder.
    private func look() {
        let process = found?.process
        let isOther = first.withLock { first in
            defer { first = .some(process) }
            return first.map { $0 != process } ?? false
        }
        if isOther { answered() }
    }

    private var found: LockHolder? {
        LockHolder(ofLock: settings.lockFile) ?? LockHolder(ofLock: settings.database)
    }

    private var sentence: String {
        let holder = found
        let who = holder.map { "\($0.description)" } ?? "another process"
        let socket: String =
            switch FileKind(path: settings.socketFile, followsLinks: false) {
            case nil: "and there is no socket \(settings.socketFile)."
            case .socket: "and no server answers on \(settings.socketFile)."
            case let kind?: "and \(settings.socketFile) is \(kind.rawValue), not a server's socket."
            }
        return "\(settings.database) is held by \(who), \(socket)"
    }
}
