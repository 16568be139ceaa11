// SPDX-License-Identifier: Apache-2.0

/// Whatever the bytes are: reading ends, reports what was lost, and gives the same result in each of its ways.
enum ReadingPromises {
    static func check(_ bytes: [UInt8]) -> CalendarReading {
        let options = Self.options
        let reading = CalendarReader(options: options).read(bytes)
        promise(reading.lines.map(\.count) == reading.calendars.map(\.events.count), "Each event has its lines.")
        promise(reading.skipped == 0 || reading.problems.contains { $0.severity == .error }, "What is lost is said.")
        promise(!reading.calendars.isEmpty || reading.refusal != nil, "What is not read is refused.")
        promise(zip(reading.problems, reading.problems.dropFirst()).allSatisfy { $0.line <= $1.line }, "By line.")
        promise(
            reading.timeZones.allSatisfy { zone in
                zone.resolvedTo != nil || reading.problems.contains { $0.code == "zone-unknown" }
            }, "A zone that is not known is said.")
        return reading
    }

    private static var options: CalendarReader.Options {
        var options = CalendarReader.Options(keepsAttachments: true)
        options.threads = 1
        return options
    }

    /// Checks that reading everything with libical, nothing with it, in chunks, and slice by slice, gives the same result.
    static func checkWays(_ bytes: [UInt8], _ reading: CalendarReading) {
        var options = Self.options
        options.decoder = .libicalAlways
        expectSame(CalendarReader(options: options).read(bytes), reading, "with libical")
        options.decoder = .swift
        expectSame(CalendarReader(options: options).read(bytes), reading, "without libical")
        options.decoder = .libical
        (options.chunkedSize, options.chunkSize) = (1, 64)
        expectSame(CalendarReader(options: options).read(bytes), reading, "in chunks")
        options.partSize = 64
        expectSame(streamed(bytes, by: 61, options), reading, "slice by slice")
        _ = reading.verdicts(of: bytes)
        var located = reading
        located.locateProblems(in: bytes)
        promise(located.problems.count == reading.problems.count, "Each problem stays, wherever it is.")
    }

    private static func expectSame(_ other: CalendarReading, _ reading: CalendarReading, _ way: String) {
        guard other != reading else { return }
        var (left, right) = (other, reading)
        // Problems of one line may be in any order.
        promise(
            counts(of: other) == counts(of: reading),
            "Problems \(way):" + difference(reported(other), reported(reading)))
        (left.problems, right.problems) = ([], [])
        promise(left == right, "Read \(way):" + difference("\(left)", "\(right)"))
    }

    /// How often each problem is reported. Texts of them would cost a third of all that reading in each way costs.
    private static func counts(of reading: CalendarReading) -> [Problem: Int] {
        reading.problems.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    private static func reported(_ reading: CalendarReading) -> String {
        reading.problems.map { "\($0)" }.sorted().joined(separator: "\n")
    }

    private static func streamed(
        _ bytes: [UInt8], by size: Int, _ options: CalendarReader.Options
    ) -> CalendarReading {
        var found: [CalendarSlice] = []
        let open = {
            var start = 0
            return { () -> [UInt8]? in
                guard start < bytes.count else { return nil }
                defer { start += size }
                return Array(bytes[start..<min(start + size, bytes.count)])
            }
        }
        guard var reading = try? CalendarReader(options: options).stream(rereading: open, { found.append($0) }) else {
            fatalError("Nothing throws but the source.")
        }
        for slice in found {
            reading.calendars[slice.calendar].events += slice.events
            reading.lines[slice.calendar] += slice.lines
            reading.problems += slice.problems
        }
        return reading
    }
}
