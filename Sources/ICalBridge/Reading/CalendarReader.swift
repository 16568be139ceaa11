// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Reads any bytes as a calendar: what is readable becomes values, and the rest becomes problems.
///
/// It throws nothing and needs nothing but memory; its time and memory grow only with the input. Several threads may
/// use one reader.
public struct CalendarReader: Sendable {
    /// Limits at which reading stops; reaching one is reported.
    public struct Limits: Hashable, Sendable {
        /// The bytes of the file.
        public var bytes = 10_000_000
        /// The bytes of one line after unfolding.
        public var lineBytes = 1 << 20
        /// The number of events, to-dos, journal entries and free/busy blocks.
        public var components = 20_000
        /// The properties of one component, not counting EXDATE, RDATE and ATTENDEE.
        public var properties = 200
        /// The EXDATE, RDATE and ATTENDEE properties of one component, and the dates in all its EXDATEs and RDATEs.
        public var listedValues = 20_000
        /// The alarms of one component.
        public var alarms = 50
        /// The VTIMEZONEs of one calendar.
        public var zones = 1000
        /// The maximum size in bytes of the files within one component that are kept, where they are kept at all.
        public var attachmentBytes = Int.max
        /// The problems of one kind that are listed individually.
        public var problemsOfAKind = 2000

        public init() {}

        /// Limits for files of up to 1 GB that their owner reads on the command line.
        public static var large: Limits {
            var limits = Limits()
            limits.bytes = 1_000_000_000
            limits.components = 10_000_000
            return limits
        }
    }

    /// The decoder of values that were checked and are written in one form.
    package enum Decoder: Hashable, CaseIterable, Sendable {
        /// libical decodes the components in which something is unusual.
        case libical
        /// libical decodes all components.
        case libicalAlways
        /// Swift, in a process in which libical should meet no bytes of strangers.
        case swift
    }

    public struct Options: Hashable, Sendable {
        public var limits = Limits()
        /// The IANA id of the zone for times whose zone is named but unknown; nil leaves them floating.
        public var assumedTimeZone: String?
        /// The charset that came with the file, as in HTTP's Content-Type; used for lines that are not UTF-8.
        public var declaredCharset: String?
        /// Whether files inside the calendar (ATTACH in base64) are kept.
        public var keepsAttachments = false
        /// The maximum number of threads that read one file at once; the result does not depend on it.
        ///
        /// A second thread is started only for a large file, with some hundred components.
        public var threads = 2
        /// The number of components that a thread takes at once.
        var batchSize = 256
        /// The file size in bytes from which a file is read in chunks, and the size of a chunk: its lines, components and
        /// values fit in a processor's second cache.
        var chunkedSize = 1 << 18
        var chunkSize = 1 << 16
        /// The size in bytes of the part of a file that streaming holds at once.
        var partSize = 1 << 20
        /// Whether markup and double escapes are read as their writers meant them.
        ///
        /// Texts that we write are exact, and their content has to be read back unchanged.
        public var mendsTexts = true
        /// The decoder of the values of a component that is read carefully.
        package var decoder = Decoder.libical

        /// The charset used for lines that are not UTF-8, when only part of the file is available.
        var guessed: Charset?

        /// The declared charset; nil when it is UTF-8 or not known.
        var declared: Charset? { declaredCharset.flatMap(Charset.init(named:)) }

        public init(limits: Limits = Limits(), assumedTimeZone: String? = nil, keepsAttachments: Bool = false) {
            self.limits = limits
            self.assumedTimeZone = assumedTimeZone
            self.keepsAttachments = keepsAttachments
        }
    }

    public let options: Options
    /// Called from time to time with the fraction of the entries that has been read, from 0 to 1, by any reading
    /// thread.
    public var progress: (@Sendable (Double) -> Void)?

    public init(options: Options = Options()) { self.options = options }

    /// Loads what is needed to read text that is not UTF-8, for a process that must not open files later.
    public static func loadCharsets() { Charset.load() }

    /// Reads a whole file.
    public func read(_ bytes: [UInt8]) -> CalendarReading {
        var log = ProblemLog(limit: options.limits.problemsOfAKind)
        guard bytes.count <= min(options.limits.bytes, Int(UInt32.max) / 4) else {
            return refusedForSize(bytes.count, log)
        }
        if let reading = readChunks(bytes) { return reading }
        // UTF-16 hides its BEGIN between NULs, so only bytes without NULs are judged as they are.
        let hasNUL = ByteSearch.first(0, in: bytes, from: 0) != nil
        if !hasNUL, let format = SourceFormat(notACalendar: bytes) {
            return refused(format, format.refusal, log)
        }
        let text = SourceText(bytes, declared: options.declared, log: &log)
        if let format = SourceFormat(notACalendar: text.bytes) {
            let isBinary = format == .text && log.count(of: "nul-bytes") > 0
            let recognized: SourceFormat = isBinary ? .binary : format
            return refused(recognized, recognized.refusal, log)
        }
        let tree = ComponentTree(text, limits: options.limits, log: &log)
        return read(tree, text, log)
    }

    private func read(_ tree: ComponentTree, _ text: SourceText, _ log: ProblemLog) -> CalendarReading {
        var log = log
        var summary = ReadingSummary()
        var uids = MadeUIDs()
        let isDone = progress.map { Self.counting(upTo: tree.calendars.reduce(0) { $0 + $1.components.count }, $0) }
        for raw in tree.calendars {
            // The log is moved, not copied: one copy for each calendar would make many small calendars slow.
            var builder = CalendarBuilder(raw, bytes: text.bytes, options: options, log: log.taken())
            builder.readComponents(uids: &uids, isDone: isDone)
            log = builder.log.taken()
            summary.add(builder, raw, found: raw.components.count)
        }
        return summary.finished(tree, limits: options.limits, log: &log) { $0.sorted() }
    }

    static func counting(
        upTo total: Int, _ progress: @escaping @Sendable (Double) -> Void
    ) -> @Sendable (Int) -> Void {
        let done = Mutex(0)
        return { count in
            let sum = done.withLock { done in
                done += count
                return done
            }
            progress(Double(sum) / Double(max(total, 1)))
        }
    }

    func refusedForSize(_ count: Int, _ log: ProblemLog) -> CalendarReading {
        refused(
            .text,
            Sentence(
                .fileTooLarge,
                "The file has \(count, .count) bytes; more than \(options.limits.bytes, .limit) are not read."), log)
    }

    func refused(_ format: SourceFormat, _ sentence: Sentence?, _ log: ProblemLog) -> CalendarReading {
        var log = log
        let sentence = sentence ?? Sentence(ofOthers: "")
        log.add(.error, "not-a-calendar", line: 0, sentence)
        var reading = CalendarReading(format: format)
        reading.problems = log.sorted()
        reading.refusalSentence = sentence
        return reading
    }
}
