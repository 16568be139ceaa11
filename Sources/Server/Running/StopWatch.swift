// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import KalendsCore
import Logging
import Storage

/// Ends the server within 20 seconds after it was asked to stop, whatever still goes on.
///
/// A transaction that does not end keeps everything from stopping that waits to write, so it is given up first: its
/// caller gets an error, and no part of it is stored. The process ends by force only when even that does not help; a
/// database is not harmed by it.
struct StopWatch: Sendable {
    let services: Services
    let logger: Logger

    /// When transactions are first given up, in seconds after the server was asked to stop.
    private static let patience = 8
    /// How long one may take from then on.
    private static let longestWrite = Duration.seconds(1)
    private static let end = 19.5

    // Timers of the system's own threads: the program's may all be busy.
    func start() {
        let queue = DispatchQueue(label: "stopping")
        for second in Self.patience..<Int(Self.end) {
            queue.asyncAfter(deadline: .now() + .seconds(second)) {
                services.maintenance.giveUpWrite(after: Self.longestWrite)
            }
        }
        queue.asyncAfter(deadline: .now() + Self.end) {
            logger.critical("the server could not stop in time, and ends by force")
            // The log is written by a thread of its own.
            usleep(100_000)
            _exit(EX_SOFTWARE)
        }
    }
}
