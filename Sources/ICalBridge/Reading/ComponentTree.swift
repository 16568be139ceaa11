// SPDX-License-Identifier: Apache-2.0

/// A component as it is in the file: its own property lines and its subcomponents.
struct RawComponent: Sendable {
    /// The name in upper case.
    var name: String
    /// The lines of the file from BEGIN to END.
    var span: ClosedRange<Int>
    var lines: [LogicalLine] = []
    var children: [RawComponent] = []
}

/// One VCALENDAR, or the components outside any.
struct RawCalendar {
    var line: Int
    var isImplicit = false
    var lines: [LogicalLine] = []
    var components: [RawComponent] = []
    var zones: [RawComponent] = []
    /// The number of unknown components in it, by name.
    var unknown: [ByteString: Int] = [:]
}

/// Finds the components of a text with an exact stack, and repairs missing BEGIN and END lines.
///
/// A component that the RFC allows only at calendar level closes whatever an earlier one left open, so that one missing
/// END never swallows the components after it.
struct ComponentTree {
    var calendars: [RawCalendar] = []
    /// The number of components beyond the limit, which are not read.
    private(set) var overLimit = 0

    var text: SourceText
    private var lastLine: LogicalLine?
    let limits: CalendarReader.Limits
    var stack: [RawComponent] = []
    private var isInCalendar = false
    /// The depth of unknown nesting below the level that is kept.
    private var tooDeep = 0
    private var componentCount = 0
    /// The number of bytes in the text that come from earlier parts.
    private(set) var carriedBytes = 0
    /// The index of the first calendar whose components may not have been taken.
    var firstOpen = 0
    /// The index of the first calendar whose lines are not archived, and how many of its zones are archived.
    var firstUnarchived = 0
    var archivedZones = 0
    private var junk: (line: Int, count: Int)?

    private static let depthLimit = 8

    /// Whether components with this name have a place in time.
    static func isPlaced(_ name: String) -> Bool {
        name == "VEVENT" || name == "VTODO" || name == "VJOURNAL" || name == "VFREEBUSY"
    }

    /// Makes the tree of a whole text.
    init(_ text: SourceText, limits: CalendarReader.Limits, log: inout ProblemLog) {
        self.init(limits: limits)
        feed(text, log: &log)
        end(log: &log)
    }

    /// Makes a tree to which a text is passed in parts.
    init(limits: CalendarReader.Limits) {
        self.limits = limits
        text = SourceText()
    }

    /// Makes a tree for a part of a text that begins within a calendar, between two components.
    init(betweenComponents limits: CalendarReader.Limits) {
        self.init(limits: limits)
        calendars = [RawCalendar(line: 1)]
        isInCalendar = true
    }

    /// Whether the text so far is one calendar with no open component.
    var isBetweenComponents: Bool {
        calendars.count == 1 && isInCalendar && stack.isEmpty && tooDeep == 0 && junk == nil && !previousIsText
    }

    /// Whether the text so far is one calendar, which has ended.
    var isAfterCalendar: Bool { calendars.count == 1 && !isInCalendar && stack.isEmpty && junk == nil }

    /// Whether the text so far has only components with a place in time.
    var hasOnlyComponents: Bool {
        overLimit == 0
            && calendars.allSatisfy { $0.lines.isEmpty && $0.zones.isEmpty && $0.unknown.isEmpty }
    }

    /// Continues with the next part of a text; what the previous part completed has to be taken before.
    mutating func feed(_ next: SourceText, log: inout ProblemLog) {
        let earlier = carried()
        carriedBytes = earlier.count
        text = SourceText(earlier, before: next)
        // The bytes are fetched once for all lines: fetching those of `text` for each line costs more than scanning
        // them.
        let bytes = text.bytes
        var index = text.lines.count - next.lines.count
        while index < text.lines.count {
            var line = text.lines[index]
            index += 1
            trim(&line, bytes.span)
            guard line.start < line.end else { continue }
            if let name = delimiter("BEGIN", line, bytes.span) {
                begin(name, line, log: &log)
            } else if let name = delimiter("END", line, bytes.span) {
                end(name, line, log: &log)
            } else {
                property(line, bytes.span, &index, log: &log)
            }
        }
        lastLine = text.lines.last ?? lastLine
    }

    /// Finishes the tree at the end of the text.
    mutating func end(log: inout ProblemLog) {
        if let lastLine { finish(lastLine, log: &log) }
    }

    private mutating func begin(_ name: String, _ line: LogicalLine, log: inout ProblemLog) {
        let number = Int(line.number)
        if name == "VCALENDAR" {
            closeAll(before: number, log: &log)
            if isInCalendar {
                log.add(
                    .repaired, "missing-end", line: number, .calendarEndMissing,
                    "END:VCALENDAR was missing before this calendar.")
            }
            calendars.append(RawCalendar(line: number))
            isInCalendar = true
            return
        }
        previousIsText = false
        let isTop = Self.isPlaced(name) || name == "VTIMEZONE"
        if isTop {
            // Only unknown components may contain one of these.
            if let open = stack.firstIndex(where: { Self.isPlaced($0.name) || $0.name == "VTIMEZONE" }) {
                close(downTo: open, before: number, log: &log)
            }
            tooDeep = 0
        } else if name == "VALARM" || name == "STANDARD" || name == "DAYLIGHT" {
            if let open = stack.lastIndex(where: { ["VALARM", "STANDARD", "DAYLIGHT"].contains($0.name) }), tooDeep == 0
            {
                close(downTo: open, before: number, log: &log)
            }
        }
        if !isInCalendar, calendars.last?.isImplicit != true { startImplicitCalendar(name, number, log: &log) }
        guard stack.count < Self.depthLimit, tooDeep == 0 else {
            if tooDeep == 0 {
                log.add(
                    .warning, "too-deep", line: number, text: name, .componentTooDeep,
                    "Components are nested too deeply; the inner ones are not read.")
            }
            tooDeep += 1
            return
        }
        var component = RawComponent(name: name, span: number...number)
        component.lines.reserveCapacity(16)
        stack.append(component)
    }

    private mutating func end(_ name: String, _ line: LogicalLine, log: inout ProblemLog) {
        let number = Int(line.number)
        if tooDeep > 0, name != "VCALENDAR", !Self.isPlaced(name) {
            tooDeep -= 1
            return
        }
        tooDeep = 0
        if name == "VCALENDAR", isInCalendar {
            closeAll(before: number, log: &log)
            isInCalendar = false
        } else if let open = stack.lastIndex(where: { $0.name == name }) {
            close(downTo: open + 1, before: number, log: &log)
            pop(endingAt: number)
        } else {
            log.add(
                .repaired, "stray-end", line: number, text: name, .endStray, "This END has no BEGIN and was ignored.")
        }
    }

    private mutating func property(
        _ start: LogicalLine, _ bytes: Span<UInt8>, _ index: inout Int, log: inout ProblemLog
    ) {
        var line = start
        let isOutside = stack.isEmpty && !isInCalendar
        guard tooDeep == 0 else { return }
        if isOutside {
            junk = (junk?.line ?? Int(line.number), (junk?.count ?? 0) + 1)
            return
        }
        if bytes[Int(line.end) - 1] == 61 { joinQuotedPrintable(&line, &index) }
        if line.end - line.start > UInt32(limits.lineBytes) {
            let head = String(fromOutside: text.bytes[line.range.prefix(40)])
            log.add(
                .error, "line-too-long", line: Int(line.number), text: head, .lineTooLong,
                "A line of \(Int(line.end - line.start), .count) bytes was left out.")
            return
        }
        guard let kind = lineKind(&line, bytes) else {
            if !appendToPrevious(line) {
                log.add(
                    .warning, "line-not-property", line: Int(line.number),
                    text: String(fromOutside: text.bytes[line.range.prefix(400)]), .lineNotProperty,
                    "This line is not a property (NAME:value) and was left out.")
            } else if log.count(of: "raw-newline") == 0 || !wasContinued {
                log.add(
                    .repaired, "raw-newline", line: Int(line.number),
                    text: String(fromOutside: text.bytes[line.range.prefix(400)]), .lineOfText,
                    "This line belongs to the text before it, whose line break was not escaped.")
            }
            wasContinued = true
            return
        }
        wasContinued = false
        previousIsText = kind == .text
        if stack.isEmpty {
            calendars[calendars.count - 1].lines.append(line)
        } else {
            stack[stack.count - 1].lines.append(line)
        }
    }

    private var wasContinued = false
    var previousIsText = false
    enum LineKind { case text, other }

    /// Adds a line to the text property right before it; false when there is no such property.
    private mutating func appendToPrevious(_ line: LogicalLine) -> Bool {
        guard previousIsText else { return false }
        func extend(_ lines: inout [LogicalLine]) -> Bool {
            guard let last = lines.last, Int(line.end - last.start) <= limits.lineBytes else { return false }
            lines[lines.count - 1].end = line.end
            return true
        }
        return stack.isEmpty
            ? extend(&calendars[calendars.count - 1].lines) : extend(&stack[stack.count - 1].lines)
    }

    private mutating func startImplicitCalendar(_ name: String, _ number: Int, log: inout ProblemLog) {
        log.add(
            .repaired, "missing-calendar", line: number, text: name, .componentOutside,
            "This component is outside any VCALENDAR; it was read as if it were inside one.")
        calendars.append(RawCalendar(line: number, isImplicit: true))
    }

    /// Closes all open components because the calendar around them ends.
    private mutating func closeAll(before number: Int, log: inout ProblemLog) {
        close(downTo: 0, before: number, log: &log)
        tooDeep = 0
    }

    /// Closes open components until `count` are left.
    private mutating func close(downTo count: Int, before number: Int, log: inout ProblemLog) {
        while stack.count > count, let open = stack.last {
            log.add(
                .repaired, "missing-end", line: number, text: open.name, .componentEndMissing,
                "END:\(open.name, .name) was missing before this line; the component began on line \(open.span.lowerBound, .line)."
            )
            pop(endingAt: max(open.span.lowerBound, number - 1))
        }
    }

    /// Moves the innermost component to where it belongs.
    private mutating func pop(endingAt number: Int) {
        previousIsText = false
        guard var component = stack.popLast() else { return }
        component.span = component.span.lowerBound...max(component.span.lowerBound, number)
        let last = calendars.count - 1
        if Self.isPlaced(component.name) {
            componentCount += 1
            if componentCount > limits.components {
                overLimit += 1
            } else {
                calendars[last].components.append(component)
            }
        } else if component.name == "VTIMEZONE" {
            if calendars[last].zones.count < limits.zones { calendars[last].zones.append(component) }
        } else if stack.isEmpty {
            calendars[last].unknown[component.name, default: 0] += 1
        } else if Self.isPlaced(stack[stack.count - 1].name) || stack[stack.count - 1].name == "VTIMEZONE" {
            stack[stack.count - 1].children.append(component)
        }
    }

    private mutating func finish(_ last: LogicalLine, log: inout ProblemLog) {
        let number = Int(last.number)
        if let open = stack.first {
            log.add(
                .warning, "missing-end", line: number, text: open.name, .componentCut,
                "The file ends within \(open.name, .name), which began on line \(open.span.lowerBound, .line): it may have been cut short."
            )
        } else if isInCalendar {
            log.add(
                .warning, "missing-end", line: number, .calendarCut,
                "END:VCALENDAR is missing: the file may have been cut short.")
        }
        while !stack.isEmpty { pop(endingAt: number) }
        if let junk, !calendars.isEmpty {
            log.add(
                .repaired, "junk-outside", line: junk.line,
                junk.count == 1
                    ? Sentence(.linesOutside, "A line outside of the calendar was ignored.", count: 1)
                    : Sentence(.linesOutside, "\(junk.count, .count) lines outside of the calendar were ignored."))
        }
    }
}
