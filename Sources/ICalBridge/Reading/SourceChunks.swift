// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A large file in chunks that are cut between two events, each of which is scanned and read while it is in the
/// processor's cache, by as many threads as the options allow.
///
/// This is done only if the chunks cannot depend on each other: one calendar, whose properties and zones are all before
/// the first cut, and nothing unusual in any line. Where they may, nothing is reported, and the file is read as a whole.
struct SourceChunks {
    /// A chunk as a range of the file, and the number of its first line.
    struct Chunk {
        var range: Range<Int>
        var firstLine: Int
        /// The line feeds in it.
        var lineFeeds: Int
    }

    let bytes: [UInt8]
    let options: CalendarReader.Options
    let chunks: [Chunk]
    /// The first chunk, which has the calendar's own properties and zones.
    let first: Scanned
    /// The problems found in the lines of the first chunk.
    let log: ProblemLog

    /// The lines and components of a chunk.
    struct Scanned: Sendable {
        var text: SourceText
        var tree: ComponentTree

        var components: [RawComponent] { tree.calendars[0].components }
    }

    /// Returns nil when the file has to be read as a whole.
    init?(_ bytes: [UInt8], options: CalendarReader.Options) {
        guard bytes.count >= options.chunkedSize, !bytes.starts(with: [0xEF, 0xBB, 0xBF]),
            SourceText.utf16(in: bytes) == nil, let chunks = Self.cut(bytes, size: options.chunkSize)
        else { return nil }
        var log = ProblemLog(limit: options.limits.problemsOfAKind)
        guard
            let first = Self.scan(
                bytes, chunks[0], ComponentTree(limits: options.limits), options, log: &log,
                isPlain: \.isBetweenComponents)
        else { return nil }
        (self.bytes, self.options, self.chunks, self.first, self.log) = (bytes, options, chunks, first, log)
    }

    /// Reads every chunk on the threads that the options allow, in a table of the calendar's zones.
    ///
    /// - Returns: the number of components and what was read of each chunk, in the order of the file; nil when the file has
    ///   to be read as a whole.
    func read(
        _ table: ZoneTable, _ options: CalendarReader.Options, progress: (@Sendable (Double) -> Void)?
    ) -> [(found: Int, batch: ComponentBatch)]? {
        let isDone = progress.map { CalendarReader.counting(upTo: bytes.count, $0) }
        let next = Atomic(0)
        let isPlain = Atomic(true)
        let done = Mutex<[(found: Int, batch: ComponentBatch)?]>(Array(repeating: nil, count: chunks.count))
        concurrently(min(max(options.threads, 1), chunks.count)) { _ in
            // A thread takes chunks in the order of the file, so what it finds first is earlier in the file than what it
            // finds later; the marks in the logs depend on that.
            var context = ReadingContext(table, options: options)
            while isPlain.load(ordering: .relaxed) {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < chunks.count else { break }
                guard let scanned = index == 0 ? first : scan(index) else {
                    isPlain.store(false, ordering: .relaxed)
                    break
                }
                let components = scanned.components
                context.textTraits = SourceTraits(scanned.text.bytes.span, scanned.text.bytes.indices)
                let batch = ComponentBatch(components[...], bytes: scanned.text.bytes, &context)
                done.withLock { $0[index] = (components.count, batch) }
                isDone?(chunks[index].range.count)
            }
        }
        guard isPlain.load(ordering: .relaxed) else { return nil }
        let read = done.withLock { $0.compactMap(\.self) }
        return read.reduce(0) { $0 + $1.found } <= options.limits.components ? read : nil
    }

    /// A chunk after the first; nil when it holds anything but components, or anything unusual.
    private func scan(_ index: Int) -> Scanned? {
        // A report about lines may depend on reports about earlier lines.
        var log = ProblemLog(limit: 1)
        let isLast = index == chunks.count - 1
        let scanned = Self.scan(
            bytes, chunks[index], ComponentTree(betweenComponents: options.limits), options, log: &log
        ) { $0.hasOnlyComponents && (isLast ? $0.isAfterCalendar : $0.isBetweenComponents) }
        return log.problems.isEmpty ? scanned : nil
    }

    private static func scan(
        _ bytes: [UInt8], _ chunk: Chunk, _ empty: ComponentTree, _ options: CalendarReader.Options,
        log: inout ProblemLog, isPlain: (ComponentTree) -> Bool
    ) -> Scanned? {
        var findings = SourceText.Findings(declared: options.declared)
        let part = bytes.span.extracting(chunk.range)
        guard ByteSearch.first(0, in: part, 0..<part.count) == nil else { return nil }
        let text = SourceText(part: part, firstLine: chunk.firstLine, &findings)
        // A line that ends with CR alone was not counted when the chunks were cut.
        guard findings.isEmpty, text.physicalLines == chunk.lineFeeds else { return nil }
        var tree = empty
        tree.feed(text, log: &log)
        if chunk.range.upperBound == bytes.count { tree.end(log: &log) }
        return isPlain(tree) ? Scanned(text: text, tree: tree) : nil
    }

    /// Cuts a file between events into chunks of about a size; nil when there would be only one.
    private static func cut(_ bytes: [UInt8], size: Int) -> [Chunk]? {
        var chunks: [Chunk] = []
        var (start, line) = (0, 1)
        func close(at end: Int) {
            let feeds = ByteWords.count(of: 10, in: bytes.span.extracting(start..<end))
            chunks.append(Chunk(range: start..<end, firstLine: line, lineFeeds: feeds))
            (start, line) = (end, line + feeds)
        }
        while bytes.count - start > size, let end = beginOfEvent(in: bytes, from: start + size) { close(at: end) }
        guard !chunks.isEmpty else { return nil }
        // The last line counts even if no line feed ends it.
        close(at: bytes.count)
        if bytes.last != 10 { chunks[chunks.count - 1].lineFeeds += 1 }
        return chunks
    }

    /// The first index from `start` on at which an event begins right after the end of another.
    private static func beginOfEvent(in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        // In files with many events, the events are short.
        let limit = min(bytes.count, start + 1 << 16)
        while let feed = ByteSearch.first(10, in: bytes, from: index, to: limit) {
            index = feed + 1
            let last = feed > 0 && bytes[feed - 1] == 13 ? feed - 1 : feed
            if stands("BEGIN:VEVENT", in: bytes, at: index),
                index + 12 < bytes.count, bytes[index + 12] == 13 || bytes[index + 12] == 10,
                stands("\nEND:VEVENT", in: bytes, at: last - 11)
            {
                return index
            }
        }
        return nil
    }

    private static func stands(_ word: StaticString, in bytes: [UInt8], at start: Int) -> Bool {
        guard start >= 0, start + word.utf8CodeUnitCount <= bytes.count else { return false }
        return word.withUTF8Buffer { buffer in
            // Proof: `place` is below the buffer's count.
            for index in 0..<buffer.count where unsafe buffer[index] != bytes[start + index] { return false }
            return true
        }
    }
}

extension CalendarReader {
    /// Reads a large file whose chunks do not depend on each other; nil for any other file.
    func readChunks(_ bytes: [UInt8]) -> CalendarReading? {
        guard let chunks = SourceChunks(bytes, options: options) else { return nil }
        let raw = chunks.first.tree.calendars[0]
        var log = chunks.log
        var builder = CalendarBuilder(raw, bytes: chunks.first.text.bytes, options: options, log: log.taken())
        guard let read = chunks.read(builder.table, builder.options, progress: progress) else { return nil }
        var summary = ReadingSummary()
        var uids = MadeUIDs()
        let found = read.reduce(0) { $0 + $1.found }
        builder.add(read.map(\.batch), found: found, uids: &uids)
        log = builder.log.taken()
        summary.add(builder, raw, found: found)
        return summary.finished(chunks.first.tree, limits: options.limits, log: &log) { $0.sorted() }
    }
}
