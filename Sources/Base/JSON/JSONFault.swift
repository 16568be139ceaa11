// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a valid JSON document, or not the value that was asked for: where, and what.
package struct JSONFault: Error, Equatable {
    /// The way to the value (RFC 6901); empty for the document as a whole.
    package var pointer = ""
    /// Where the text is broken; nil for text that is JSON.
    package var place: Place?
    /// One sentence without the place.
    package var reason: String

    package init(pointer: String = "", at place: Place? = nil, reason: String) {
        self.pointer = pointer
        self.place = place
        self.reason = reason
    }

    /// A place in the text: line and column from 1, the column in bytes.
    package struct Place: Equatable, Sendable {
        package var line: Int
        package var column: Int
    }

    /// The reason with the place in the text.
    package var message: String {
        place.map { "Line \($0.line), column \($0.column): \(reason)" } ?? reason
    }

    /// The place as the end of a sentence of somebody else's, without what is there; empty for the document as a whole.
    package var whereabouts: String { pointer.isEmpty ? "" : " at \(pointer)" }

    /// The fault of a document that is one line of many.
    ///
    /// - Parameter line: its number, from 1.
    package func inLine(_ line: Int) -> JSONFault {
        var fault = self
        fault.place?.line = line
        return fault
    }

    /// The fault as the value around it has it: one step longer.
    func within(_ name: String) -> JSONFault {
        var fault = self
        fault.pointer = JSONPointer.step(name) + pointer
        return fault
    }
}

extension JSONFault: CustomStringConvertible {
    package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }
}
