// SPDX-License-Identifier: Apache-2.0

/// One thing that was wrong with a calendar file, and what was done about it.
public struct Problem: Hashable, Sendable, Codable {
    public enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
        /// Something is lost: a component or a property could not be read.
        case error
        /// Nothing is lost, but the meaning had to be assumed, or a calendar app will not handle it well.
        case warning
        /// The value was wrong, but its meaning is certain; it has been corrected.
        case repaired
    }

    /// The line of the file, from 1; 0 when the whole file is meant.
    public var line: Int
    /// The column of the line in bytes, from 1; nil unless one place is meant.
    public var column: Int?
    /// The UID of the component that contains the problem, if it has one.
    public var uid: String?
    public var severity: Severity
    public var code: Code
    /// What was read and what was done about it.
    public var sentence: Sentence
    /// The offending text, cut to a readable length.
    public var text: String?

    public init(
        line: Int, column: Int? = nil, uid: String? = nil, severity: Severity, code: Code, sentence: Sentence,
        text: String? = nil
    ) {
        self.line = line
        self.column = column
        self.uid = uid
        self.severity = severity
        self.code = code
        self.sentence = sentence
        self.text = text
    }

    /// The sentence in English; a new one has no words in other languages.
    public var message: String {
        get { sentence.text }
        set { sentence = Sentence(ofOthers: newValue) }
    }

    /// A stable identifier for a kind of problem, for programs; new ones may be added.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { self.rawValue = value }
    }
}
