// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// What was read from a file to be imported, as far as a report and a commit need it.
package struct ImportSource: Sendable {
    package var events: [ReadEvent]
    /// How many of the events were too large to be passed on.
    private var unpassed = 0
    /// The number of components with a time that could not be read or are of a kind that is not imported.
    var skipped: Int
    var problems: [Problem]
    var zones: [TimeZoneResolution]

    package var summary: ImportSummary {
        ImportSummary(
            events: events.count - unpassed, skipped: skipped, problems: problems.sorted { $0.line < $1.line },
            zones: zones)
    }

    /// Reports events that are too large for any block.
    package mutating func leaveOut(_ tooLarge: [ReadEvent]) {
        unpassed += tooLarge.count
        for read in tooLarge {
            leaveOut(
                read.event, line: read.line,
                Sentence(.eventTooLarge, "The event is larger than \(ImportBlock.mostOfEvent >> 10, .count) KiB."))
        }
    }

    /// An error and not a warning: what is stored of an event stays, because nobody knows what became of it.
    private mutating func leaveOut(_ event: Event, line: Int, _ reason: Sentence) {
        skipped += 1
        problems.append(
            Problem(
                line: line, uid: event.uid.utf8.count > EventLimits.uid ? nil : event.uid, severity: .error,
                code: "event-skipped", sentence: reason))
    }

    /// Reads a file; throws 422 with a sentence if nothing in it can be imported.
    ///
    /// - Parameters:
    ///   - charset: the charset that the file's Content-Type names.
    ///   - progress: called now and then with the part that has been read, from 0 to 1, by any reading thread.
    ///   - pass: called with the events of each block in order, while later ones are still examined.
    package init(
        _ bytes: [UInt8], assumedTimeZone: String, charset: String? = nil, limit: Int,
        progress: (@Sendable (Double) -> Void)? = nil, pass: ([ReadEvent]) -> Void = { _ in }
    ) throws {
        var reader = CalendarReader(
            options: CalendarReader.Options(ofWorker: assumedTimeZone, charset: charset, limit: limit))
        reader.progress = progress
        var reading = reader.read(anyForm: bytes)
        reading.settleKinds()
        if reading.format.isOwnText { reading.locateProblems(in: bytes) }
        if let refusal = reading.refusal {
            throw Refusal(
                .invalid, code: .fileUnreadable, detail: refusal,
                faults: reading.problems.prefix(20).map {
                    Fault(pointer: "/line/\($0.line)", code: .fileProblem, message: $0.message)
                })
        }
        events = []
        events.reserveCapacity(reading.calendars.reduce(0) { $0 + $1.events.count })
        skipped = reading.skipped
        problems = reading.problems
        for index in problems.indices where problems[index].uid?.utf8.count ?? 0 > EventLimits.uid {
            problems[index].uid = nil
        }
        zones = reading.timeZones
        // Events that are too expensive to show are left out here, where nobody waits; the others stay.
        var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
        let zone = TimeZoneReference(assumedTimeZone)?.rules ?? FixedOffset.utc
        let all = reading.events
        let lines = reading.lines.joined().map(\.lowerBound)
        // A series whose beginning is not in the file is stored as feeds and exports show it.
        let settled = Series.settled(file: all)
        for index in settled.gone {
            skipped += 1
            problems.append(
                Problem(
                    line: lines[index], uid: all[index].uid, severity: .warning, code: "event-skipped",
                    sentence: Sentence(.datesElsewhere, "Other components of the file have all of its dates.")))
        }
        for (event, index) in settled.kept {
            let line = lines[index]
            if event.kind == .freeBusy {
                skipped += 1
            } else if event.uid.utf8.count > EventLimits.uid {
                leaveOut(
                    event, line: line,
                    Sentence(.uidTooLong, "Its UID is longer than \(EventLimits.uid, .count) bytes."))
            } else if let problem = event.excessiveWork(line: line, floatingIn: zone, budget: &budget) {
                skipped += 1
                problems.append(problem)
            } else {
                let isSettled = event.recurrenceID == nil && all[index].recurrenceID != nil
                events.append(ReadEvent(event: event, line: line, isSettled: isSettled))
                // A slice would share the list's storage, and the next event would copy all of them.
                if events.count.isMultiple(of: ImportBlock.size) { pass(Array(events.suffix(ImportBlock.size))) }
            }
        }
        let rest = events.count % ImportBlock.size
        if rest > 0 { pass(Array(events.suffix(rest))) }
    }
}

extension CalendarReader.Options {
    /// Creates the options for an untrusted file, in the process that reads it.
    ///
    /// - Parameters:
    ///   - charset: the charset that the file's Content-Type names.
    ///   - limit: the most bytes of a file.
    package init(ofWorker assumedTimeZone: String, charset: String?, limit: Int) {
        self.init()
        self.assumedTimeZone = assumedTimeZone
        declaredCharset = charset
        limits.bytes = limit
        limits.components = 200_000
        // The import decides what of them is stored.
        keepsAttachments = true
        limits.attachmentBytes = 256 << 10
    }
}

/// What was read from a file; its events are kept outside of this process's memory.
struct ImportReading: Sendable {
    var summary: ImportSummary
    var events: ImportEvents
    /// The index that was made while the file was read.
    private var known: ImportIndex?

    init(summary: ImportSummary, events: ImportEvents, known: ImportIndex? = nil) {
        (self.summary, self.events, self.known) = (summary, events, known)
    }

    /// Returns the index of the events, for times that name no zone in a circle's.
    func index(in circle: Circle, _ store: any Store) async throws -> ImportIndex {
        let zone = try circle.zone
        // The circle may have another zone than it had when the file was read.
        if let known, known.zone == zone { return known }
        return try await ImportIndex(events, floatingIn: zone, store)
    }
}
