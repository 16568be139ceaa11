// SPDX-License-Identifier: Apache-2.0

/// The reason why bytes are not a valid JSON document, or not the requested value, and the place of the problem.
public struct JSONFault: Error, Equatable {
    /// The path to the value (RFC 6901); empty for the document as a whole.
    package var pointer = ""
    /// The place where the text is not valid; nil if the text is valid JSON.
    package var place: Place?
    /// The reason as one sentence, without the place.
    package var reason: String

    package init(pointer: String = "", at place: Place? = nil, reason: String) {
        self.pointer = pointer
        self.place = place
        self.reason = reason
    }

    /// A place in the text: line and column count from 1, the column in bytes.
    package struct Place: Equatable, Sendable {
        package var line: Int
        package var column: Int
    }

    /// The reason, together with the place in the text.
    public var message: String {
        place.map { "Line \($0.line), column \($0.column): \(reason)" } ?? reason
    }

    /// The place as the end of another sentence, without the reason; empty for the document as a whole.
    package var whereabouts: String { pointer.isEmpty ? "" : " at \(pointer)" }

    /// The fault of a document that is one line of many.
    ///
    /// - Parameter line: its number, from 1.
    package func inLine(_ line: Int) -> JSONFault {
        var fault = self
        fault.place?.line = line
        return fault
    }

    /// Returns the fault with a path from the enclosing value, one step longer.
    func within(_ name: String) -> JSONFault {
        var fault = self
        fault.pointer = JSONPointer.step(name) + pointer
        return fault
    }
}

extension JSONFault: CustomStringConvertible {
    public var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }
}
