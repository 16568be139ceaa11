// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import ServiceLifecycle
import UnixSignals

/// Handles SIGHUP, which does not end the server but makes it read files again.
///
/// The only exception is a closed terminal: the server that ran in it shuts down in order, as with Ctrl-C.
struct HangupHandler: Service {
    /// The actions that read files again, in this order.
    let actions: [@Sendable () async -> Void]
    let logger: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            if Self.hasLostTerminal {
                logger.notice("the terminal was closed")
                // When this service ends, all others are shut down in order.
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
            // Each call accesses only the structure that it is given. 136 to 143 are pseudo-terminals.
            guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
            guard (136...143).contains(status.st_rdev >> 8 & 0xFFF) || isatty(descriptor) == 1 else { return false }
            return unsafe poll(&asked, 1, 0) == 1 && asked.revents & Int16(POLLHUP) != 0
        }
    }
}
