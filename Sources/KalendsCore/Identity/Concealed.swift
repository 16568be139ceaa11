// SPDX-License-Identifier: Apache-2.0

/// A text that nobody may see, such as a password or a secret setting.
///
/// Printing, interpolating or dumping it shows `[redacted]`.
package struct Concealed: Hashable, Sendable {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Returns the text in clear.
    package func reveal() -> String { text }

    package var bytes: [UInt8] { Array(text.utf8) }
}

extension Concealed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
