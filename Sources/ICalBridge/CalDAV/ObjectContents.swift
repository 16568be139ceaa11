// SPDX-License-Identifier: Apache-2.0

/// A calendar object resource taken apart: its lines, and what its components mean.
struct ObjectContents {
    /// Why an object cannot be taken apart.
    enum Failure: Error {
        /// It is not one calendar in UTF-8 whose components end in order.
        case text
        /// A component, or something in it, cannot be read.
        case part(Sentence)
    }

    let tree: ObjectTree
    /// The components with a place in time, in the order of the text; each is at the same index in `events`.
    let parts: [ObjectTree]
    let events: [Event]
    /// What was found while the components were read.
    let problems: [Problem]

    init(_ text: [UInt8]) throws(Failure) {
        guard (try? UTF8Span(validating: text.span)) != nil, let tree = ObjectTree(text) else { throw .text }
        self.tree = tree
        parts = tree.components.filter { ComponentTree.isPlaced($0.name) }
        guard !parts.isEmpty else {
            (events, problems) = ([], [])
            return
        }
        let reading = Self.read(text)
        events = reading.events
        problems = reading.problems
        guard reading.refusalSentence == nil, reading.skipped == 0, parts.count == events.count else {
            // The fault of a component says more than the fact that nothing was read.
            let found = problems.first { $0.severity == .error && $0.code != "not-a-calendar" }?.sentence
            throw .part(found ?? reading.refusalSentence ?? Sentence(ofOthers: ""))
        }
    }

    /// Parses a stored text; only the parts that give a time become values.
    ///
    /// Returns nil if the object cannot be read.
    init?(reporting text: [UInt8]) {
        guard (try? UTF8Span(validating: text.span)) != nil, let tree = ObjectTree(text) else { return nil }
        self.tree = tree
        parts = tree.components.filter { ComponentTree.isPlaced($0.name) }
        let zones = tree.components.filter { $0.name == "VTIMEZONE" }
        let areNamed = NamedZones.shared.areAll(zones)
        let reading = Self.read(tree.times(withZones: !areNamed).text)
        if !areNamed { NamedZones.shared.note(zones, reading.timeZones) }
        (events, problems) = (reading.events, reading.problems)
        guard reading.skipped == 0, parts.count == events.count else { return nil }
    }

    /// Reads a stranger's bytes where others are served, which is not for a library in C.
    private static func read(_ text: [UInt8]) -> CalendarReading {
        var options = CalendarReader.Options()
        options.mendsTexts = false
        options.threads = 1
        options.decoder = .swift
        return CalendarReader(options: options).read(text)
    }

    /// The series of the object: its component without a RECURRENCE-ID, and those that replace occurrences.
    var series: Series {
        Series(
            master: events.first { $0.recurrenceID == nil }, overrides: events.filter { $0.recurrenceID != nil })
    }
}

extension ObjectTree {
    private static let timeNames: Set<ByteString> = [
        "UID", "DTSTAMP", "DTSTART", "DTEND", "DUE", "DURATION", "RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID",
        "STATUS", "TRANSP", "SEQUENCE", "LAST-MODIFIED", "ACTION", "TRIGGER", "REPEAT", "X-MICROSOFT-CDO-ALLDAYEVENT",
    ]

    /// The object without what does not say when something is; zones stay as they are, or are left out.
    fileprivate func times(withZones: Bool) -> ObjectTree {
        var object = self
        object.components = components.compactMap {
            if $0.name == "VTIMEZONE" { return withZones ? $0 : nil }
            return $0.timesOfPart
        }
        return object
    }

    private var timesOfPart: ObjectTree {
        var part = self
        part.lines = lines.filter { Self.timeNames.contains(ByteString($0.name)) }
        part.components = components.filter { $0.name == "VALARM" }.map(\.timesOfPart)
        return part
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
