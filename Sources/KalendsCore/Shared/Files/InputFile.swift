// SPDX-License-Identifier: Apache-2.0

import Glibc
import ICalBridge

/// A file that cannot be read (exit status 3).
package struct InputFailure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}

/// A file that somebody named, or standard input for `-`, read piece by piece and never without a limit.
///
/// Opening it never blocks. Folders, devices and sockets are refused; waiting for a pipe is announced with a message,
/// and nothing is read beyond the limit.
package final class InputFile {
    /// The default limit for content that is kept in memory as a whole: 256 MiB.
    package static let wholeLimit = 256 << 20
    /// The seconds to wait for a pipe before a message, and the seconds that a named pipe may send nothing.
    private static let silence = 2
    private static let patience = 30

    private enum Kind {
        case file(size: Int)
        /// An unnamed pipe is another program's output, which arrives when that program is ready.
        case pipe(isNamed: Bool)
        case terminal
    }

    private let name: String
    private let limit: Int
    private let hint: String
    private let descriptor: CInt
    private let kind: Kind
    private var taken = 0
    private var chunk = [UInt8](repeating: 0, count: 1 << 20)
    private var hasBegun = false
    private var hasPrompted = false

    /// - Parameters:
    ///   - limit: the most bytes that are read; a longer file is refused here if its length is known.
    ///   - hint: a further sentence for the message about a file that is too long.
    package init(_ name: String, limit: Int = wholeLimit, hint: String = "") throws {
        (self.name, self.hint) = (name, hint)
        // The path is valid for the call; without O_NONBLOCK, opening a pipe that nobody writes to would block.
        descriptor = name == "-" ? STDIN_FILENO : unsafe open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        let code = errno
        guard descriptor >= 0 else {
            throw Self.failure(
                name, code == ENXIO ? "is a socket and not a file." : "cannot be opened: \(systemReason(code)).")
        }
        do {
            kind = try Self.kind(descriptor, name)
            if case .file(let size) = kind {
                guard size <= limit else { throw Self.tooLong(name, size, limit, hint) }
                self.limit = limit
            } else {
                // A pipe can be read only once, so its content is always kept.
                self.limit = min(limit, Self.wholeLimit)
            }
        } catch {
            if descriptor != STDIN_FILENO { _ = close(descriptor) }
            throw error
        }
    }

    deinit { if descriptor > STDIN_FILENO { _ = close(descriptor) } }

    /// The length of a file that can be read again from its beginning; nil for a pipe.
    package var size: Int? {
        if case .file(let size) = kind, name != "-" { size } else { nil }
    }

    /// Reads all of it, or what is left of it.
    package func whole() throws -> [UInt8] {
        var bytes: [UInt8] = []
        if case .file(let size) = kind { bytes.reserveCapacity(size) }
        while let count = try fill() { bytes += chunk[..<count] }
        return bytes
    }

    /// Returns the next piece, or nil at the end.
    package func next() throws -> [UInt8]? { try fill().map { Array(chunk[..<$0]) } }

    /// Fills the beginning of the chunk with the next bytes, and returns their number; nil at the end.
    private func fill() throws -> Int? {
        while true {
            if case .file = kind {} else { try wait() }
            // The buffer is valid for the call, and `read` writes no more than its count.
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                try wait()
                continue
            }
            guard count >= 0 else { throw Self.failure(name, "cannot be read: \(systemReason(errno)).") }
            hasBegun = true
            taken += count
            // This can be a pipe, or a file that grows while it is read.
            guard taken <= limit else { throw Self.tooLong(name, nil, limit, hint) }
            return count == 0 ? nil : count
        }
    }

    /// Waits until there is something to read or the end is reached.
    private func wait() throws {
        if case .terminal = kind, !hasPrompted {
            Self.say("Reading what you type; Ctrl-D on a line of its own ends it.")
            hasPrompted = true
        }
        var waited = 0
        while true {
            var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // The call reads and writes only the structure it is given.
            let ready = unsafe poll(&asked, 1, CInt(Self.silence * 1000))
            if ready < 0, errno == EINTR { continue }
            guard ready == 0 else { return }
            waited += Self.silence
            if !hasPrompted {
                Self.say(
                    "Waiting for \(shownName)\(hasBegun ? " to go on" : ", from which nothing has come yet").")
                hasPrompted = true
            }
            if case .pipe(isNamed: true) = kind, !hasBegun, waited >= Self.patience {
                throw Self.failure(name, "is a pipe, and nobody wrote to it within \(Self.patience) seconds.")
            }
        }
    }

    /// Writes a line to standard error, where nobody mistakes it for the result.
    private static func say(_ text: String) {
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            // The buffer is valid for the call, and `write` reads no more than its count.
            let written = unsafe rest.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    private var shownName: String { name == "-" ? "standard input" : printable(name) }

    private static func kind(_ descriptor: CInt, _ name: String) throws -> Kind {
        var status = stat()
        // The call fills only the structure it is given.
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw failure(name, "cannot be opened: \(systemReason(errno)).")
        }
        let isInput = name == "-"
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(size: status.st_size)
        case S_IFIFO: return .pipe(isNamed: !isInput)
        // Some programs give their child processes a socket as standard input.
        case S_IFSOCK where isInput: return .pipe(isNamed: false)
        case S_IFCHR where isatty(descriptor) == 1: return .terminal
        case S_IFCHR where status.st_rdev == emptyDevice: return .file(size: 0)
        case S_IFDIR: throw failure(name, "is a folder and not a file.")
        case S_IFSOCK: throw failure(name, "is a socket and not a file.")
        default: throw failure(name, "is a device and not a file.")
        }
    }

    /// `/dev/null`, which ends at once, while other devices never end.
    private static let emptyDevice: dev_t = 1 << 8 | 3

    private static func tooLong(_ name: String, _ size: Int?, _ limit: Int, _ hint: String) -> InputFailure {
        let length = size.map { "is \($0.grouped) bytes long" } ?? "goes on and on"
        return failure(name, "\(length); at most \(limit.grouped) bytes are read.\(hint.isEmpty ? "" : " " + hint)")
    }

    private static func failure(_ name: String, _ text: String) -> InputFailure {
        InputFailure(description: "\(name == "-" ? "Standard input" : printable(name)) \(text)")
    }
}
