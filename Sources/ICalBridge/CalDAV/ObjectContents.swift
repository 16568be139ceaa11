// SPDX-License-Identifier: Apache-2.0

/// A calendar object resource taken apart: its lines, and what its components mean.
struct ObjectContents {
    /// Why an object cannot be taken apart.
    enum Failure: Error {
        /// It is not one calendar in UTF-8 whose components end in order.
        case text
        /// A component, or something in it, cannot be read.
        case part(Sentence)
        /// libical has to read a component, and was not to be used.
        case libical
    }

    let tree: ObjectTree
    /// The components with a place in time, in the order of the text; each is at the same index in `events`.
    let parts: [ObjectTree]
    let events: [Event]
    /// What was found while the components were read.
    let problems: [Problem]

    /// - Parameter avoidsLibical: whether nothing is read that Swift does not read by itself.
    init(_ text: [UInt8], avoidsLibical: Bool = false) throws(Failure) {
        guard (try? UTF8Span(validating: text.span)) != nil, let tree = ObjectTree(text) else { throw .text }
        self.tree = tree
        parts = tree.components.filter { ComponentTree.isPlaced($0.name) }
        guard !parts.isEmpty else {
            (events, problems) = ([], [])
            return
        }
        var options = CalendarReader.Options()
        options.mendsTexts = false
        options.threads = 1
        options.avoidsLibical = avoidsLibical
        let reading = CalendarReader(options: options).read(text)
        if avoidsLibical, reading.problems.contains(where: { $0.code == "component-refused" }) { throw .libical }
        if let sentence = reading.refusalSentence { throw .part(sentence) }
        events = reading.events
        problems = reading.problems
        guard reading.skipped == 0, parts.count == events.count else {
            throw .part(problems.first { $0.severity == .error }?.sentence ?? Sentence(ofOthers: ""))
        }
    }

    /// The series of the object: its component without a RECURRENCE-ID, and those that replace occurrences.
    var series: Series {
        Series(
            master: events.first { $0.recurrenceID == nil }, overrides: events.filter { $0.recurrenceID != nil })
    }
}

extension ObjectTree.Line {
    /// The line with its parameters; nil where `CalendarReader` reads no property.
    var property: Property? {
        Property(bytes, LogicalLine(start: 0, end: UInt32(bytes.count), number: 1))
    }

    /// The zone that the line names.
    var zoneName: String? {
        guard bytes[head].count > 5, var property else { return nil }
        var log = ProblemLog(limit: 0)
        ComponentReader.mendZone(&property, &log)
        return ComponentReader.zoneName(property)
    }
}
