// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// One line on a terminal that says how far a long work is, and goes away with it.
///
/// Nothing is written when standard error is not a terminal, or when standard output is one too, where it would appear
/// between the lines of the result.
final class ProgressLine: Sendable {
    private let work: String
    private let last = Mutex<(percent: Int, time: ContinuousClock.Instant)?>(nil)
    private let isShown: Bool

    /// From this many bytes on, it takes so long that somebody wonders.
    static let bytes = 8_000_000

    /// - Parameter mayShareTerminal: whether nothing is written to standard output before the work is done.
    init(_ work: String, bytes: Int, mayShareTerminal: Bool) {
        self.work = work
        isShown =
            bytes >= Self.bytes && isatty(STDERR_FILENO) == 1 && (mayShareTerminal || isatty(STDOUT_FILENO) == 0)
    }

    /// - Parameter part: how much is done, from 0 to 1.
    @Sendable func tell(_ part: Double) {
        guard isShown else { return }
        let percent = Int(part * 100)
        let now = ContinuousClock.now
        let isNews = last.withLock { last in
            // Ten times a second is as much as is seen.
            if let last, percent <= last.percent || now - last.time < .milliseconds(100) { return false }
            last = (percent, now)
            return true
        }
        if isNews { Console.status("\r\(work) \(percent) %") }
    }

    /// Takes the line away.
    func end() {
        if last.withLock({ $0 != nil }) { Console.status("\r\u{1B}[K") }
    }
}
