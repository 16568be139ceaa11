// SPDX-License-Identifier: Apache-2.0

import Glibc
import KalendsCore

/// A command's standard output and standard error.
package enum Console {
    package static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    /// Writes each value as a line of JSON.
    package static func lines(_ values: [JSONValue]) throws { for value in values { line(try value.text()) } }
    /// Writes a message to standard error; text from file names and libraries cannot move the cursor.
    package static func error(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        write(lines.map { printable(String($0)) + "\n" }.joined(), to: STDERR_FILENO)
    }
    /// Writes a text to standard error without a line end.
    package static func status(_ text: String) { write(text, to: STDERR_FILENO) }
    package static func bytes(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    private static func write(_ text: String, to descriptor: CInt) { write(Array(text.utf8), to: descriptor) }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The buffer is valid for the call, and write reads no more than its count.
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // When the reader has gone away (for example a closed pager), the command ends quietly.
            guard written > 0 else { exit(errno == EPIPE ? 0 : 3) }
            rest = rest.dropFirst(written)
        }
    }
}
