// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// The calendar file of a command, or standard input for `-`, in any supported format.
struct CalendarInput {
    let file: String

    init(_ file: String) { self.file = file }

    /// Reads the whole file, with a progress line on the terminal if that takes long.
    func read(_ options: CalendarReader.Options = .commandLine) throws -> (bytes: [UInt8], reading: CalendarReading) {
        let bytes = try InputFile(file, hint: "kalends parse reads longer files, piece by piece.").whole()
        let line = ProgressLine("reading \(file)", bytes: bytes.count, mayShareTerminal: true)
        defer { line.end() }
        var reader = CalendarReader(options: options)
        reader.progress = line.report
        return (bytes, reader.read(anyForm: bytes))
    }

    /// Reads the file slice by slice, with only a part of it in memory; input from a pipe is kept whole.
    ///
    /// - Returns: the reason why nothing can be read; nil on success.
    func eachSlice(_ use: (CalendarSlice) throws -> Void) throws -> String? {
        let reader = CalendarReader(options: .commandLine)
        let limit = reader.options.limits.bytes
        // A pipe is opened only once: opening it again would cut off its writer.
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
                // The first passes collect information at the end of a file that affects its beginning.
                let work = looks == 1 ? "looking through \(file)" : "reading \(file)"
                let shown = ProgressLine(work, bytes: size, mayShareTerminal: false)
                line = shown
                var done = 0
                return {
                    let chunk = try source.next()
                    done += chunk?.count ?? 0
                    shown.report(Double(done) / Double(max(size, 1)))
                    return chunk
                }
            }, use)
        guard reading.refusal != nil else {
            try use(CalendarSlice(calendar: 0, events: [], lines: [], problems: reading.problems))
            return nil
        }
        // Input that is not iCalendar may be a calendar in another format, which is read as a whole.
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
