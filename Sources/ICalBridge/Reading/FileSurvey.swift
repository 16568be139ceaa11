// SPDX-License-Identifier: Apache-2.0

/// The facts that a first pass over a whole file keeps: everything but the components.
struct FileSurvey {
    private(set) var tree: ComponentTree
    /// The number of components in each calendar.
    private(set) var found: [Int: Int] = [:]
    private var archive = LineArchive()
    private var byteCount = 0
    private var notACalendar: SourceFormat?
    /// The charset that the lines that are not UTF-8 seem to have, in the whole file.
    private(set) var charset: Charset?
    /// The UIDs that overrides of single occurrences name, by calendar.
    private var replaced: [Int: Set<ByteString>] = [:]

    init(
        _ options: CalendarReader.Options, _ open: () throws -> (() throws -> [UInt8]?), log: inout ProblemLog
    ) throws {
        tree = ComponentTree(limits: options.limits)
        var parts = SourceParts(size: options.partSize, declared: options.declared, guessed: options.guessed)
        // The problems of the lines come after those of the bytes, which are known only at the end.
        var lineLog = ProblemLog(limit: options.limits.problemsOfAKind)
        let next = try open()
        while let chunk = try next() {
            guard parts.byteCount + chunk.count <= Self.byteLimit(options) else {
                byteCount = parts.byteCount + chunk.count
                while let more = try next() { byteCount += more.count }
                return
            }
            guard let text = parts.add(chunk) else { continue }
            tree.feed(text, log: &lineLog)
            parts.wait(forAtLeast: tree.carriedBytes)
            collect()
        }
        tree.feed(parts.last(), log: &lineLog)
        tree.end(log: &lineLog)
        collect()
        tree.archive(into: &archive, isAtEnd: true)
        byteCount = parts.byteCount
        charset = parts.findings.charset
        notACalendar = parts.refusal(log: &log)
        if notACalendar == nil { log.append(lineLog) { _, _, _ in } }
    }

    private mutating func collect() {
        for (calendar, components) in tree.takeComponents() {
            found[calendar, default: 0] += components.count
            for component in components {
                let names = component.lines.map { Self.name($0, tree.text.bytes) }
                guard names.contains(.recurrenceID), let uid = Self.uid(component, names, tree.text.bytes) else {
                    continue
                }
                replaced[calendar, default: []].insert(uid)
            }
        }
        tree.archive(into: &archive, isAtEnd: false)
    }

    /// The maximum number of bytes that are read, the same as for a file that is read at once.
    private static func byteLimit(_ options: CalendarReader.Options) -> Int {
        min(options.limits.bytes, Int(UInt32.max) / 4)
    }

    /// The result for a file that is refused as a whole.
    func refusal(of reader: CalendarReader, _ log: ProblemLog) -> CalendarReading? {
        if byteCount > Self.byteLimit(reader.options) { return reader.refusedForSize(byteCount, log) }
        return notACalendar.map { reader.refused($0, $0.refusal, log) }
    }

    func builder(_ calendar: Int, _ options: CalendarReader.Options, log: consuming ProblemLog) -> CalendarBuilder {
        CalendarBuilder(tree.calendars[calendar], bytes: archive.bytes, options: options, log: log)
    }

    /// The series that have overrides; if there are any, the file is read again to find them.
    func replacedSeries(
        _ options: CalendarReader.Options, _ open: () throws -> (() throws -> [UInt8]?)
    ) throws -> [Int: ReplacedSeries] {
        guard !replaced.isEmpty else { return [:] }
        var contexts: [Int: ReadingContext] = [:]
        var series = replaced.mapValues { ReplacedSeries(missing: $0) }
        try Self.walk(options, open) { calendar, components, bytes in
            guard let names = replaced[calendar] else { return }
            for component in components {
                let keys = component.lines.map { Self.name($0, bytes) }
                guard let uid = Self.uid(component, keys, bytes), names.contains(uid) else { continue }
                var context =
                    contexts.removeValue(forKey: calendar)
                    ?? ReadingContext(
                        builder(calendar, options, log: ProblemLog(limit: 0)).table, options: options)
                var reader = ComponentReader(component, bytes: bytes)
                if let event = reader.read(&context), event.recurrenceID == nil { series[calendar]?.meet(event) }
                _ = context.log.taken()
                contexts[calendar] = context
            }
        }
        return series
    }

    /// Makes one pass over a file, and passes on the components of each part.
    static func walk(
        _ options: CalendarReader.Options, _ open: () throws -> (() throws -> [UInt8]?),
        _ body: (_ calendar: Int, _ components: [RawComponent], _ bytes: [UInt8]) throws -> Void
    ) throws {
        var tree = ComponentTree(limits: options.limits)
        var parts = SourceParts(size: options.partSize, declared: options.declared, guessed: options.guessed)
        // The first pass has reported what is wrong with the lines.
        var log = ProblemLog(limit: 0)
        func take() throws {
            for (calendar, components) in tree.takeComponents() { try body(calendar, components, tree.text.bytes) }
            tree.dropZones()
        }
        let next = try open()
        while let chunk = try next() {
            guard let text = parts.add(chunk) else { continue }
            tree.feed(text, log: &log)
            parts.wait(forAtLeast: tree.carriedBytes)
            try take()
        }
        tree.feed(parts.last(), log: &log)
        tree.end(log: &log)
        try take()
    }

    private static func name(_ line: LogicalLine, _ bytes: [UInt8]) -> PropertyKey {
        line.head(bytes.span)?.key ?? .other
    }

    private static func uid(_ component: RawComponent, _ names: [PropertyKey], _ bytes: [UInt8]) -> String? {
        for (line, name) in zip(component.lines, names) where name == .uid {
            guard let property = Property(bytes, line), !property.isEmpty else { continue }
            return TextValue.decoded(ComponentReader.plain(property).trimmingSpaces)
        }
        return nil
    }
}
