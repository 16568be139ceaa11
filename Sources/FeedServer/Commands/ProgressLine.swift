// SPDX-License-Identifier: Apache-2.0

import Glibc
import Server
import Synchronization

/// A line on the terminal that shows the progress of long work, and disappears when the work ends.
///
/// Nothing is written when standard error is not a terminal, or when standard output is one too, where the line would
/// appear between the lines of the result.
final class ProgressLine: Sendable {
    private let work: String
    private let last = Mutex<(percent: Int, time: ContinuousClock.Instant)?>(nil)
    private let isShown: Bool

    /// From this size in bytes on, the work takes so long that a progress line is useful.
    static let bytes = 8_000_000

    /// - Parameter mayShareTerminal: true when nothing is written to standard output before the work is done.
    init(_ work: String, bytes: Int, mayShareTerminal: Bool) {
        self.work = work
        isShown =
            bytes >= Self.bytes && isatty(STDERR_FILENO) == 1 && (mayShareTerminal || isatty(STDOUT_FILENO) == 0)
    }

    /// - Parameter part: the completed part, from 0 to 1.
    @Sendable func report(_ part: Double) {
        guard isShown else { return }
        let percent = Int(part * 100)
        let now = ContinuousClock.now
        let isNews = last.withLock { last in
            // More than ten updates a second cannot be seen.
            if let last, percent <= last.percent || now - last.time < .milliseconds(100) { return false }
            last = (percent, now)
            return true
        }
        if isNews { Console.status("\r\(work) \(percent) %") }
    }

    /// Removes the line.
    func end() {
        if last.withLock({ $0 != nil }) { Console.status("\r\u{1B}[K") }
    }
}
