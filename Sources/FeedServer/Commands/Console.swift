// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Standard output and error of a command.
enum Console {
    static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }
    static func error(_ text: String) { write(text + "\n", to: STDERR_FILENO) }
    /// Text on standard error that no line end follows.
    static func status(_ text: String) { write(text, to: STDERR_FILENO) }
    static func bytes(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    private static func write(_ text: String, to descriptor: CInt) { write(Array(text.utf8), to: descriptor) }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The buffer is valid for the call, and write reads no more than its count.
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // A reader that has gone away (a pager that was left) ends the command quietly.
            guard written > 0 else { exit(errno == EPIPE ? 0 : 3) }
            rest = rest.dropFirst(written)
        }
    }
}

/// A file that cannot be read (exit status 3).
struct InputFailure: Error, CustomStringConvertible {
    var description: String
}

/// Reads a file, or standard input for `-`.
func readInput(_ name: String) throws -> [UInt8] {
    let source = try InputChunks(name)
    var bytes: [UInt8] = []
    while let chunk = try source.next() { bytes += chunk }
    return bytes
}

/// A file piece by piece, or standard input for `-`.
final class InputChunks {
    private let name: String
    private let descriptor: CInt
    private var chunk = [UInt8](repeating: 0, count: 1 << 20)

    init(_ name: String) throws {
        self.name = name
        // open takes a path that is valid for the call.
        descriptor = name == "-" ? STDIN_FILENO : unsafe open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InputFailure(description: "\(name) cannot be opened: \(systemError()).") }
    }

    deinit { if descriptor != STDIN_FILENO { _ = close(descriptor) } }

    /// The next piece, nil at the end.
    func next() throws -> [UInt8]? {
        while true {
            // The buffer is valid for the call, and read writes no more than its count.
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputFailure(description: "\(name) cannot be read: \(systemError()).") }
            return count == 0 ? nil : Array(chunk[..<count])
        }
    }

    /// The length of a file that can be read again from its beginning; nil for a pipe.
    static func size(of name: String) -> Int? {
        guard name != "-" else { return nil }
        var status = stat()
        // The path is valid for the call, which fills the status.
        guard unsafe stat(name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}

private func systemError() -> String {
    guard let text = unsafe strerror(errno) else { return "unknown error" }
    return unsafe String(cString: text)
}

/// Text for a terminal: what could move the cursor or hide a word is shown as `?`.
func printable(_ text: String) -> String {
    String(
        String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                scalar.value < 32 || scalar.value == 127 || (0x80..<0xA0).contains(scalar.value)
                    || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
                    ? "?" : scalar
            }))
}
