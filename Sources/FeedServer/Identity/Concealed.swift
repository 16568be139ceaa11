// SPDX-License-Identifier: Apache-2.0

/// A text that nobody may see: a password, or a setting that is one.
///
/// Printing, interpolating or dumping one shows `[redacted]`.
struct Concealed: Hashable, Sendable {
    private let text: String

    init(_ text: String) { self.text = text }

    /// The text in clear.
    func reveal() -> String { text }

    var bytes: [UInt8] { Array(text.utf8) }
}

extension Concealed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "[redacted]" }
    var debugDescription: String { "[redacted]" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
