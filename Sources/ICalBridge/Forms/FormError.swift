// SPDX-License-Identifier: Apache-2.0

/// Why some bytes are not a calendar in the form that was expected.
public struct FormError: Error, Hashable, Sendable {
    public var form: CalendarForm
    /// The line of the input, from 1; nil when no single line is meant.
    public var line: Int?
    /// One sentence that says what was found.
    public var message: String
}

extension FormError: CustomStringConvertible {
    public var description: String { line.map { "Line \($0): \(message)" } ?? message }
}
