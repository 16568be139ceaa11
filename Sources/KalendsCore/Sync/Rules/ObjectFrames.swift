// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FoundationEssentials

/// A question about a calendar object, or the answer to one, on its way between the server and a reading process.
package struct ObjectFrame: Sendable {
    /// JSON.
    private var head: [UInt8]
    /// The object's text.
    private var text: [UInt8]

    fileprivate init(head: [UInt8], text: [UInt8]) { (self.head, self.text) = (head, text) }

    init(_ question: ObjectQuestion) throws {
        self.init(head: Array(try JSONEncoder().encode(question)), text: question.text)
    }

    private init(_ answer: ObjectAnswer) throws {
        // No object has an empty text, so an empty text means that there was no text.
        self.init(head: Array(try JSONEncoder().encode(answer)), text: answer.text ?? [])
    }

    /// How many bytes its two parts have.
    var count: Int { head.count + text.count }

    /// The encoded frame: the lengths of its two parts in four bytes each, and the parts.
    package var bytes: [UInt8] {
        [head, text].flatMap { part in (0..<4).map { UInt8(truncatingIfNeeded: part.count >> (24 - 8 * $0)) } } + head
            + text
    }

    /// Answers a question, in the reading process.
    package func answered() throws -> ObjectFrame {
        var question = try ObjectQuestion(decodingJSON: head)
        question.text = text
        return try ObjectFrame(question.answer())
    }

    /// Reads an answer; throws when it is not one, or has times that cannot be computed with.
    func answer() throws -> ObjectAnswer {
        var answer = try ObjectAnswer(decodingJSON: head)
        answer.text = text.isEmpty ? nil : text
        guard answer.isSound else { throw ObjectFrames.Broken() }
        return answer
    }
}

/// Splits the bytes from a pipe into frames.
package struct ObjectFrames: Sendable {
    struct Broken: Error {}

    private var pending: [UInt8] = []
    private var position = 0
    /// The longest part of a frame, in bytes.
    private static let longest = 16 << 20

    package init() {}

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        pending.removeFirst(position)
        position = 0
        pending += bytes
    }

    /// Returns the next complete frame, or nil if more bytes are needed; throws if it is too long.
    package mutating func next() throws -> ObjectFrame? {
        guard pending.count - position >= 8 else { return nil }
        let lengths = [0, 4].map { part in (0..<4).reduce(0) { $0 << 8 | Int(pending[position + part + $1]) } }
        guard lengths.allSatisfy({ $0 <= Self.longest }) else { throw Broken() }
        let start = position + 8
        let middle = start + lengths[0]
        let end = middle + lengths[1]
        guard pending.count >= end else { return nil }
        defer { position = end }
        return ObjectFrame(head: Array(pending[start..<middle]), text: Array(pending[middle..<end]))
    }
}
