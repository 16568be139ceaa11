// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads a token that is typed or piped in.
enum TokenInput {
    /// Asks on a terminal without showing what is typed; otherwise reads the first line of standard input.
    static func line() -> String {
        guard isatty(STDIN_FILENO) == 1 else { return readLine() ?? "" }
        var shown = termios()
        // The calls read and write only the structure that they are given.
        guard unsafe tcgetattr(STDIN_FILENO, &shown) == 0 else { return readLine() ?? "" }
        var hidden = shown
        // Ctrl-C arrives as a character of the line: as a signal it would leave the terminal with its echo turned off.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        Output.error("Token (what you type or paste is not shown):")
        let line = readLine() ?? ""
        return line.unicodeScalars.contains("\u{3}") ? "" : line
    }
}
