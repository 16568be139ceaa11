// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage
import Synchronization

/// How long a command waits for the process that has the database, and what it reports while waiting.
///
/// That process is a server that starts, runs or stops, or another short command. A busy machine may need many seconds
/// for what normally takes a tenth of a second, and for each command that runs before this one.
final class LocalWait: Sendable {
    private static let patience = Duration.seconds(30)
    /// How long waiting is normal and not reported.
    private static let silence = Duration.seconds(2)

    private let settings: ServerSettings
    private let since = Mutex(ContinuousClock.now)
    private let hasPrompted = Mutex(false)
    /// The process that had the database when waiting began, as far as the system shows it; nil before that.
    private let first = Mutex<Int??>(nil)

    init(_ settings: ServerSettings) { self.settings = settings }

    /// The remaining time to wait.
    var left: Duration { since.withLock { $0 } + Self.patience - .now }

    /// Records that there was an answer, so that the waiting time starts again.
    func answered() { since.withLock { $0 = .now } }

    /// Reports once what is being waited for when it takes long; throws when it takes too long.
    func goOn() throws {
        if left <= .zero || first.withLock({ $0 == nil }) { look() }
        guard left > .zero else {
            throw LocalClient.Failure(
                description: "\(sentence) Given up after \(Self.patience.components.seconds) seconds.")
        }
        guard left < Self.patience - Self.silence else { return }
        let isNews = hasPrompted.withLock { hasPrompted in
            defer { hasPrompted = true }
            return !hasPrompted
        }
        if isNews { Console.error("Waiting: \(sentence)") }
    }

    /// Starts the waiting time again when another process has taken the database.
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
