// SPDX-License-Identifier: Apache-2.0

extension ICalendar {
    /// The calendar as jCal in UTF-8 (RFC 7265): the properties of `serialized(coverage:)` in the same order.
    public func jCal(coverage: ClosedRange<Instant>? = nil) -> [UInt8] {
        Array(Self.jCal(fromStrictText: [serialized(coverage: coverage)]).joined())
    }

    /// Makes jCal from iCalendar text that `serialized(coverage:)` wrote, for callers that already have it.
    ///
    /// Text from elsewhere is not repaired here: read it with `CalendarReader` first.
    ///
    /// - Parameter parts: the text, in parts that each end at the end of a line.
    /// - Returns: the bytes in parts, since one array of a large text would need much memory in one place.
    public static func jCal(fromStrictText parts: [[UInt8]]) -> [[UInt8]] {
        var out = GrowingParts()
        var calendars = 0
        var isFirst = true
        PropertyTree.walk(inText: parts) { step in
            switch step {
            case .begin(let calendar):
                if calendars > 0 { out.last.append(UInt8(ascii: ",")) }
                calendar.beginJCal(to: &out.last)
                isFirst = true
            case .component(let component):
                out.last += (isFirst ? "\n" : ",\n").utf8
                component.writeJCal(to: &out.last)
                isFirst = false
            case .end:
                PropertyTree.endJCal(to: &out.last)
                calendars += 1
            }
            out.cut()
        }
        // Any number of calendars other than one is an array of calendars (RFC 7265 section 3.2).
        let (before, after) = calendars == 1 ? ("", "\n") : ("[", "]\n")
        out.last += after.utf8
        return [Array(before.utf8)] + out.all
    }

    /// The calendar as xCal in UTF-8 (RFC 6321): the properties of `serialized(coverage:)` in the same order.
    ///
    /// A property or parameter whose name begins with a digit, which no XML element's name may, is left out.
    public func xCal(coverage: ClosedRange<Instant>? = nil) -> [UInt8] {
        Array(Self.xCal(fromStrictText: [serialized(coverage: coverage)]).joined())
    }

    /// Makes xCal from iCalendar text, like `jCal(fromStrictText:)`.
    public static func xCal(fromStrictText parts: [[UInt8]]) -> [[UInt8]] {
        var out = GrowingParts()
        out.last += "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<icalendar xmlns=\"\(XMLElement.xCal)\">\n".utf8
        var isFirst = true
        PropertyTree.walk(inText: parts) { step in
            switch step {
            case .begin(let calendar):
                calendar.beginXCal(to: &out.last)
                isFirst = true
            case .component(let component):
                if isFirst { out.last += "<components>\n".utf8 }
                component.writeXCal(to: &out.last)
                isFirst = false
            case .end(let name):
                if !isFirst { out.last += "</components>\n".utf8 }
                PropertyTree.endXCal(name, to: &out.last)
            }
            out.cut()
        }
        out.last += "</icalendar>\n".utf8
        return out.all
    }
}

/// A text that grows in parts.
private struct GrowingParts {
    private static let size = 256 << 10

    private var full: [[UInt8]] = []
    /// The part that grows.
    var last: [UInt8] = []

    /// All parts in order.
    var all: [[UInt8]] { full + [last.compact] }

    /// Begins the next part if the last one is large.
    mutating func cut() {
        guard last.count >= Self.size else { return }
        full.append(last.compact)
        last = []
        last.reserveCapacity(Self.size)
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
