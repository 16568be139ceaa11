// SPDX-License-Identifier: Apache-2.0

import Glibc
import KalendsCore
import Server

/// Reads a password that is typed or piped in; it is never an argument, which every program on the machine could read.
enum PasswordInput {
    private static let interrupt: UInt8 = 3

    /// Asks twice on a terminal, without echo; otherwise reads the first line of standard input.
    static func read() throws -> Concealed {
        guard isatty(STDIN_FILENO) == 1 else { return Concealed(try firstLine()) }
        let first = try asked("Password: ")
        guard try asked("The same password again: ") == first else {
            throw InputFailure(description: "The two passwords differ; nothing was changed.")
        }
        return first
    }

    /// The first line of standard input when it is not a terminal.
    private static func firstLine() throws -> String {
        let source = try InputFile("-", limit: 1 << 16)
        var bytes: [UInt8] = []
        while !bytes.contains(10), let chunk = try source.next() { bytes += chunk }
        let line = bytes.prefix { $0 != 10 }
        guard let text = String(validating: line.last == 13 ? line.dropLast() : line, as: UTF8.self) else {
            throw InputFailure(description: "A password must be text in UTF-8; nothing was changed.")
        }
        return text
    }

    private static func asked(_ prompt: String) throws -> Concealed {
        var shown = termios()
        // The calls access only the structure that they are given.
        guard unsafe tcgetattr(STDIN_FILENO, &shown) == 0 else {
            throw InputFailure(description: "The echo of the terminal cannot be turned off.")
        }
        var hidden = shown
        // Ctrl-C is read as the end of a line: as a signal it would leave the terminal without echo.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        hidden.c_cc.11 = interrupt
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        // The prompt comes only now, since input that was typed earlier is discarded.
        Console.status(prompt)
        defer {
            _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            Console.status("\n")
        }
        return try line()
    }

    /// Reads one line from the terminal.
    private static func line() throws -> Concealed {
        var buffer = [UInt8](repeating: 0, count: 8192)
        // The buffer is valid for the call, and read writes no more than its count.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
        let bytes = buffer.prefix(max(count, 0))
        guard let last = bytes.last, last != interrupt,
            let text = String(validating: last == 10 ? bytes.dropLast() : bytes, as: UTF8.self)
        else { throw InputFailure(description: "Nothing was changed.") }
        return Concealed(text)
    }
}
