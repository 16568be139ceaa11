// SPDX-License-Identifier: Apache-2.0

extension ICalendar {
    /// The calendar as jCal in UTF-8 (RFC 7265): the properties of `serialized(coverage:)` in the same order.
    public func jCal(coverage: ClosedRange<Instant>? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        Self.jCal(fromStrictText: [serialized(coverage: coverage)]) { bytes += $0 }
        return bytes
    }

    /// Makes jCal from iCalendar text that `serialized(coverage:)` wrote, for callers that already have it.
    ///
    /// Text from elsewhere is not repaired here: read it with `CalendarReader` first.
    ///
    /// - Parameters:
    ///   - parts: the text, in parts each of which ends where a line does.
    ///   - calendars: how many calendars the text has; any number other than one makes an array (RFC 7265 section 3.2).
    ///   - write: called with the bytes in order, a part at a time, since all of a large text would need much memory.
    public static func jCal<Failure: Error>(
        fromStrictText parts: [[UInt8]], calendars: Int = 1, to write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var out = Array((calendars == 1 ? "" : "[").utf8)
        var (isFirstCalendar, isFirst) = (true, true)
        try PropertyTree.walk(inText: parts) { (step) throws(Failure) in
            switch step {
            case .begin(let calendar):
                if !isFirstCalendar { out.append(UInt8(ascii: ",")) }
                calendar.beginJCal(to: &out)
                (isFirstCalendar, isFirst) = (false, true)
            case .component(let component):
                out += (isFirst ? "\n" : ",\n").utf8
                component.writeJCal(to: &out)
                isFirst = false
            case .end:
                PropertyTree.endJCal(to: &out)
            }
            try cut(&out, write)
        }
        out += (calendars == 1 ? "\n" : "]\n").utf8
        try write(out.compact)
    }

    /// The calendar as xCal in UTF-8 (RFC 6321): the properties of `serialized(coverage:)` in the same order.
    ///
    /// A property or parameter whose name begins with a digit, which no XML element's name may, is left out.
    public func xCal(coverage: ClosedRange<Instant>? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        Self.xCal(fromStrictText: [serialized(coverage: coverage)]) { bytes += $0 }
        return bytes
    }

    /// Makes xCal from iCalendar text, like `jCal(fromStrictText:calendars:to:)`.
    public static func xCal<Failure: Error>(
        fromStrictText parts: [[UInt8]], to write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var out = Array("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<icalendar xmlns=\"\(XMLElement.xCal)\">\n".utf8)
        var isFirst = true
        try PropertyTree.walk(inText: parts) { (step) throws(Failure) in
            switch step {
            case .begin(let calendar):
                calendar.beginXCal(to: &out)
                isFirst = true
            case .component(let component):
                if isFirst { out += "<components>\n".utf8 }
                component.writeXCal(to: &out)
                isFirst = false
            case .end(let name):
                if !isFirst { out += "</components>\n".utf8 }
                PropertyTree.endXCal(name, to: &out)
            }
            try cut(&out, write)
        }
        out += "</icalendar>\n".utf8
        try write(out.compact)
    }

    /// Passes on what was made, if it is much.
    private static func cut<Failure: Error>(
        _ out: inout [UInt8], _ write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        guard out.count >= 256 << 10 else { return }
        try write(out.compact)
        out = []
    }
}

extension CalendarReader {
    /// Converts a jCal text to iCalendar text in UTF-8, which `read` then checks (RFC 7265 section 4).
    ///
    /// - Parameter limit: the most bytes of input that are read.
    /// - Throws: `FormError` with one sentence and, if the JSON is broken, its line.
    public static func iCalendarText(
        fromJCal bytes: [UInt8], limit: Int = Limits().bytes
    ) throws(FormError) -> [UInt8] {
        try check(bytes, limit, .jCal)
        let document: JSONNode
        do throws(JSONFault) {
            document = try JSONNode(parsing: bytes)
        } catch {
            throw FormError(form: .jCal, line: error.place?.line, sentence: Sentence(ofOthers: error.reason))
        }
        return PropertyTree.text(of: try PropertyTree.trees(inJCal: document))
    }

    /// Converts an xCal text to iCalendar text in UTF-8, which `read` then checks (RFC 6321 section 4).
    ///
    /// Document types are not read, so the text can refer to no other file and define no entities. Elements of other
    /// vocabularies are left out.
    ///
    /// - Parameter limit: the most bytes of input that are read.
    /// - Throws: `FormError` with one sentence and, if the XML is broken, its line.
    public static func iCalendarText(
        fromXCal bytes: [UInt8], limit: Int = Limits().bytes
    ) throws(FormError) -> [UInt8] {
        try check(bytes, limit, .xCal)
        let root: XMLElement
        do throws(XMLFailure) {
            root = try XMLReader.read(bytes, limits: .xCal)
        } catch {
            throw FormError(form: .xCal, line: error.line, sentence: error.sentence)
        }
        return PropertyTree.text(of: try PropertyTree.trees(inXCal: root))
    }

    /// Converts a CSV table to iCalendar text in UTF-8, which `read` then checks.
    ///
    /// - Parameter limit: the most bytes of input that are read.
    /// - Throws: `FormError` with one sentence and, if the table is broken, its line.
    public static func iCalendarText(
        fromCSV bytes: [UInt8], limit: Int = Limits().bytes
    ) throws(FormError) -> [UInt8] {
        try check(bytes, limit, .csv)
        return try EventTable.iCalendarText(of: CSVTable(bytes))
    }

    private static func check(_ bytes: [UInt8], _ limit: Int, _ form: CalendarForm) throws(FormError) {
        guard bytes.count <= limit else {
            throw FormError(
                form: form, .formTooLarge,
                "It has \(bytes.count, .count) bytes; more than \(limit, .limit) are not read.")
        }
    }
}
