// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import ServiceLifecycle
import UnixSignals

/// What SIGHUP does: it never ends the server by itself, but what can be read again is read again.
///
/// The one exception is a terminal that was closed: the server that ran in it stops in order, as with Ctrl-C.
struct Hangup: Service {
    /// What is read again, in this order.
    let actions: [@Sendable () async -> Void]
    let logger: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            if Self.hasLostTerminal {
                logger.notice("the terminal was closed")
                // Once it ends, all the others are stopped in order.
                return
            }
            logger.notice(
                "SIGHUP: certificates are read again; a change of settings needs a new start",
                metadata: ["actions": "\(actions.count)"])
            for action in actions { await action() }
        }
    }

    /// Whether one of the standard streams was a terminal that no longer exists.
    private static var hasLostTerminal: Bool {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { descriptor in
            var status = stat()
            var asked = pollfd(fd: descriptor, events: 0, revents: 0)
            // Each call reads and writes the one structure that it is given. 136 to 143 are the terminals of programs.
            guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
            guard (136...143).contains(status.st_rdev >> 8 & 0xFFF) || isatty(descriptor) == 1 else { return false }
            return unsafe poll(&asked, 1, 0) == 1 && asked.revents & Int16(POLLHUP) != 0
        }
    }
}
