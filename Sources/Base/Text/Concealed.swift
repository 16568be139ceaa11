// SPDX-License-Identifier: Apache-2.0

/// A text that nobody may see, such as a password, a token or a secret setting.
public struct Concealed: Hashable, Redacted {
    private let text: String

    public init(_ text: String) { self.text = text }

    /// Returns the text in clear, for a request or for sealing.
    public func reveal() -> String { text }

    public var bytes: [UInt8] { Array(text.utf8) }
}

/// A value that is secret: printing, interpolating or dumping it, or a value that holds it, shows `[redacted]`.
public protocol Redacted: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    public var description: String { "[redacted]" }
    public var debugDescription: String { "[redacted]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Collection<UInt8> {
    /// Reports whether both are the same bytes, in a time that depends on their number only.
    public func isSameSecret(as other: some Collection<UInt8>) -> Bool {
        count == other.count && zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension [UInt8] {
    /// Returns unpredictable bytes of the system's generator.
    public static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }
}
