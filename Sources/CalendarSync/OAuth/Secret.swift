// SPDX-License-Identifier: Apache-2.0

/// A token, code or client secret. Printing or dumping a value that holds it never shows its text.
public struct Secret: Hashable, Sendable {
    /// The text itself, for a request or for sealing.
    public let revealed: String

    public init(_ text: String) { revealed = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
