// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A password that is typed or piped in; never an argument, which every program on the machine can read.
enum PasswordInput {
    /// Asks twice on a terminal, without showing what is typed; else takes the first line of standard input.
    static func read() throws -> Concealed {
        guard isatty(STDIN_FILENO) == 1 else { return Concealed(line() ?? "") }
        let first = try asked("Password: ")
        guard try asked("The same again: ") == first else {
            throw InputFailure(description: "The two are not the same; nothing was changed.")
        }
        return first
    }

    private static func asked(_ prompt: String) throws -> Concealed {
        Console.status(prompt)
        var shown = termios()
        // The calls read and write the one structure that they are given.
        guard unsafe tcgetattr(STDIN_FILENO, &shown) == 0 else {
            throw InputFailure(description: "The terminal cannot be kept from showing what is typed.")
        }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer {
            _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
            Console.status("\n")
        }
        guard let text = line() else { throw InputFailure(description: "Nothing was typed; nothing was changed.") }
        return Concealed(text)
    }

    private static func line() -> String? { readLine(strippingNewline: true) }
}
