// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The destination of log lines: a bounded buffer, which a separate thread writes out.
///
/// Logging never waits for the reader of the log. When the reader is too slow, lines are dropped, and the log reports
/// how many as soon as it is read again.
package final class LogSink: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var isWriterAwake = false
        var isWriting = false
    }

    /// The maximum number of bytes that may wait.
    static let room = 1 << 20
    /// Further bytes, for warnings and errors only.
    static let reserve = 64 << 10
    /// How long lines are collected before they are written, in microseconds: at any rate of lines, the system is
    /// called at most a few hundred times a second.
    private static let collecting: UInt32 = 5000

    private let descriptor: CInt
    private let form: LogLine.Form
    private let state = Mutex(State())
    private let wake = Semaphore()
    private let thread = SystemThread()
    private let now: Clock

    /// - Parameter descriptor: a file that stays open for as long as the process lives, as standard error does.
    package init(_ descriptor: CInt, as form: LogLine.Form, now: @escaping Clock = systemClock) throws {
        (self.descriptor, self.form, self.now) = (descriptor, form, now)
        // The sink is never released: the thread ends with the process.
        try thread.start { self.write() }
    }

    /// Adds a line; may be called on any thread, including an event loop, and never waits for the reader.
    ///
    /// - Parameter isUrgent: whether the line may use the room for warnings and errors.
    func append(_ line: [UInt8], isUrgent: Bool) {
        let wakes = state.withLock { state -> Bool in
            let room = isUrgent ? Self.room + Self.reserve : Self.room
            guard state.waiting.count + line.count <= room else {
                state.dropped += 1
                return false
            }
            state.waiting += line
            defer { state.isWriterAwake = true }
            return !state.isWriterAwake
        }
        if wakes { wake.signal() }
    }

    /// Waits until every line is written, at most for this time; returns whether all are.
    package func flush(within time: Duration) async -> Bool {
        let end = ContinuousClock.now + time
        while true {
            if state.withLock({ $0.waiting.isEmpty && !$0.isWriting }) { return true }
            guard ContinuousClock.now < end else { return false }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    // MARK: On the thread

    private func write() {
        // The reader of the log may be gone; that must not end the server.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        var piece: [UInt8] = []
        while true {
            let dropped = state.withLock { state -> Int in
                swap(&piece, &state.waiting)
                state.isWriting = !piece.isEmpty
                if piece.isEmpty { state.isWriterAwake = false }
                defer { state.dropped = 0 }
                return state.dropped
            }
            if dropped > 0 {
                var line = LogLine(form, at: now(), "warning", "lines of the log were left out: its reader is too slow")
                line.add("lines", dropped)
                line.end()
                piece += line.bytes
            }
            if piece.isEmpty {
                wake.wait()
            } else {
                put(piece)
                piece.removeAll(keepingCapacity: piece.count <= Self.reserve)
            }
            usleep(Self.collecting)
        }
    }

    private func put(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                var asked = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&asked, 1, 1000)
            } else if count < 0, errno == EINTR {
                continue
            } else {
                // When the log itself fails, nobody can be informed.
                return
            }
        }
    }
}
