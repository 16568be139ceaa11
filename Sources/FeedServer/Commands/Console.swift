// SPDX-License-Identifier: Apache-2.0

import Glibc
import KalendsCore

/// Standard output and error of a command.
enum Console {
    static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }
    /// A message: what file names and libraries bring into it does not move the cursor.
    static func error(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        write(lines.map { printable(String($0)) + "\n" }.joined(), to: STDERR_FILENO)
    }
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
