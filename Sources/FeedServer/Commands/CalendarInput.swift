// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// A calendar file that a command was given, or standard input for `-`, in whichever form it is.
struct CalendarInput {
    let file: String

    init(_ file: String) { self.file = file }

    /// The whole of it at once, with a line on the terminal while that takes long.
    func read(_ options: CalendarReader.Options = .commandLine) throws -> (bytes: [UInt8], reading: CalendarReading) {
        let bytes = try InputFile(file, hint: "kalends parse reads longer files, piece by piece.").whole()
        let line = ProgressLine("reading \(file)", bytes: bytes.count, mayShareTerminal: true)
        defer { line.end() }
        var reader = CalendarReader(options: options)
        reader.progress = line.tell
        return (bytes, reader.read(anyForm: bytes))
    }

    /// Slice by slice, with no more of a file in memory than a part of it; what comes through a pipe is kept whole.
    ///
    /// - Returns: why nothing of it can be read.
    func eachSlice(_ use: (CalendarSlice) throws -> Void) throws -> String? {
        let reader = CalendarReader(options: .commandLine)
        let limit = reader.options.limits.bytes
        // A pipe is opened once: whoever writes to it would be cut off by a second opening.
        let first = try InputFile(file, limit: limit)
        let size = first.size
        let kept = size == nil ? try first.whole() : []
        var looks = 0
        var line: ProgressLine?
        defer { line?.end() }
        let reading = try reader.stream(
            rereading: {
                guard let size else {
                    var rest: [UInt8]? = kept
                    return { rest.take() }
                }
                let source = try InputFile(file, limit: limit)
                looks += 1
                line?.end()
                // The first looks collect what the end of a file says of its beginning.
                let work = looks == 1 ? "looking through \(file)" : "reading \(file)"
                let shown = ProgressLine(work, bytes: size, mayShareTerminal: false)
                line = shown
                var done = 0
                return {
                    let chunk = try source.next()
                    done += chunk?.count ?? 0
                    shown.tell(Double(done) / Double(max(size, 1)))
                    return chunk
                }
            }, use)
        guard reading.refusal != nil else {
            try use(CalendarSlice(calendar: 0, events: [], lines: [], problems: reading.problems))
            return nil
        }
        // What is not iCalendar may be a calendar in another form, which is read as a whole.
        if let size, size > InputFile.wholeLimit { return reading.refusal }
        let other = reader.read(anyForm: size == nil ? kept : try InputFile(file).whole())
        if let refusal = other.refusal { return refusal }
        for (index, calendar) in other.calendars.enumerated() {
            try use(
                CalendarSlice(
                    calendar: index, events: calendar.events, lines: other.lines[index], problems: other.problems))
        }
        return nil
    }
}
