// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A large file's lines, scanned by two threads at once: each takes one half, cut between two events.
///
/// This is done only if the halves cannot depend on each other. Where they may, nothing is reported, and the file is
/// scanned as a whole.
struct SourceHalves {
    /// The first half, with the calendar's own properties and zones.
    private(set) var first: Half
    /// The second half: only events, and the end of the calendar.
    private(set) var second: Half
    /// The problems found in the lines of the first half.
    private(set) var log: ProblemLog

    struct Half: Sendable {
        var text: SourceText
        var tree: ComponentTree
        var log: ProblemLog
        var isPlain: Bool
    }

    /// Returns nil when the file has to be scanned as a whole.
    init?(_ bytes: [UInt8], options: CalendarReader.Options) {
        guard options.threads > 1, bytes.count >= options.halvedSize, let cut = Self.cut(bytes),
            !bytes.starts(with: [0xEF, 0xBB, 0xBF]), SourceText.utf16(in: bytes) == nil
        else { return nil }
        let halves = Mutex<[Half?]>([nil, nil])
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            let half = number == 0 ? Self.first(bytes, cut, options) : Self.second(bytes, cut, options)
            halves.withLock { $0[number] = half }
        }
        let both = halves.withLock { $0 }
        guard let first = both[0], let second = both[1], first.isPlain, second.isPlain,
            first.text.physicalLines == Self.lineFeeds(bytes.span.extracting(..<cut)),
            first.tree.calendars[0].components.count + second.tree.calendars[0].components.count
                <= options.limits.components
        else { return nil }
        (self.first, self.second, log) = (first, second, first.log)
    }

    private static func first(_ bytes: [UInt8], _ cut: Int, _ options: CalendarReader.Options) -> Half {
        var findings = SourceText.Findings(declared: options.declared)
        var log = ProblemLog(limit: options.limits.problemsOfAKind)
        let text = SourceText(part: bytes.span.extracting(..<cut), firstLine: 1, &findings)
        var tree = ComponentTree(limits: options.limits)
        tree.feed(text, log: &log)
        return Half(text: text, tree: tree, log: log, isPlain: findings.isEmpty && tree.isBetweenComponents)
    }

    private static func second(_ bytes: [UInt8], _ cut: Int, _ options: CalendarReader.Options) -> Half {
        var findings = SourceText.Findings(declared: options.declared)
        var log = ProblemLog(limit: 1)
        let before = lineFeeds(bytes.span.extracting(..<cut))
        let text = SourceText(part: bytes.span.extracting(cut...), firstLine: before + 1, &findings)
        var tree = ComponentTree(within: RawCalendar(line: 1), limits: options.limits)
        tree.feed(text, log: &log)
        tree.end(log: &log)
        // What is reported about lines may depend on what was reported about earlier lines.
        return Half(
            text: text, tree: tree, log: log,
            isPlain: findings.isEmpty && tree.isComponentsAlone && log.problems.isEmpty)
    }

    /// The index near the middle at which an event begins right after the end of another.
    private static func cut(_ bytes: [UInt8]) -> Int? {
        var index = bytes.count / 2
        let (end, begin) = (Array("END:VEVENT".utf8), Array("BEGIN:VEVENT".utf8))
        // In files with many events, the events are short.
        let limit = min(bytes.count, index + 1 << 16)
        while let feed = ByteSearch.first(10, in: bytes, from: index, to: limit) {
            index = feed + 1
            guard index + begin.count < bytes.count, bytes[index..<index + begin.count].elementsEqual(begin),
                bytes[index + begin.count] == 13 || bytes[index + begin.count] == 10
            else { continue }
            let last = feed > 0 && bytes[feed - 1] == 13 ? feed - 1 : feed
            if last > end.count, bytes[last - end.count - 1] == 10,
                bytes[last - end.count..<last].elementsEqual(end)
            {
                return index
            }
        }
        return nil
    }

    private static func lineFeeds(_ bytes: Span<UInt8>) -> Int {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var (count, start) = (0, 0)
            while start < bytes.count {
                // Few enough for the count to fit in a byte, so that the compiler checks many at once. Proof: `end` is
                // at most the count.
                let end = min(start + 255, bytes.count)
                var part: UInt8 = 0
                for index in start..<end { part &+= unsafe bytes[index] == 10 ? 1 : 0 }
                count += Int(part)
                start = end
            }
            return count
        }
    }
}

extension CalendarReader {
    /// Reads a large file whose lines two threads can scan; nil for any other file.
    func readHalves(_ bytes: [UInt8]) -> CalendarReading? {
        guard let halves = SourceHalves(bytes, options: options),
            SourceFormat(notACalendar: halves.first.text.bytes) == nil
        else { return nil }
        var log = halves.log
        var summary = ReadingSummary()
        var uids = MadeUIDs()
        let raw = halves.first.tree.calendars[0]
        let later = halves.second.tree.calendars[0].components
        let found = raw.components.count + later.count
        let isDone = progress.map { Self.counting(upTo: found, $0) }
        var builder = CalendarBuilder(raw, bytes: halves.first.text.bytes, options: options, log: log.taken())
        builder.readComponents(and: (later, halves.second.text.bytes), uids: &uids, isDone: isDone)
        log = builder.log.taken()
        summary.add(builder, raw, found: found)
        return summary.finished(halves.first.tree, limits: options.limits, log: &log) { $0.sorted() }
    }
}
