// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CSandbox
import Foundation
import ICalBridge

struct Read: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read files, compared with libical's parser, Python and PHP; measure the memory of a stream.")

    @Option(help: "How many events.") var events = 50_000
    @Option(help: "How many runs; the median counts.") var runs = 7
    @Option(help: "The folder of other libraries' programs; none is run without it.") var peers: String?
    @Option(help: "The Python that has icalendar.") var python = "python3"
    @Option(help: "Stream this file and report the memory; part of the program's own run.") var stream: String?
    @Option(help: "Read this file and report the memory of its values; part of the program's own run.")
    var values: String?

    func run() throws {
        if let stream { return try Self.stream(stream) }
        if let values { return try Self.values(values) }
        let bytes = SampleFile.bytes(events: events)
        print("\(events) events, \(bytes.count) bytes, median of \(runs) runs")
        func reader(_ threads: Int) -> CalendarReader {
            var options = CalendarReader.Options(limits: .large)
            options.threads = threads
            return CalendarReader(options: options)
        }
        let reading = reader(2).read(bytes)
        guard reading.events.count == events, reading.problems.isEmpty else {
            throw ValidationError("The file was not read whole: \(reading.problems.prefix(3)).")
        }
        let times = Self.measure(bytes, runs: runs, reader)
        row("libical: icalparser_parse_string alone, one thread", times[0].milliseconds)
        row("Kalends: values and problems, one thread", times[1].milliseconds, times[1].output)
        row("Kalends: values and problems, two threads", times[2].milliseconds, times[2].output)
        print("(at least 4 with one thread is wanted, and 1.8 times that with two)")
        for oddity in SampleFile.oddities {
            let odd = SampleFile.bytes(events: events / 5, oddity)
            guard reader(1).read(odd).events.count == events / 5 else {
                throw ValidationError("The odd file was not read whole.")
            }
            let times = Self.measure(odd, runs: runs, reader)
            row("\(oddity.name) in every event, one thread", times[1].milliseconds, times[1].output)
        }
        print("(at least 1 is wanted)")

        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "events.ics").path
        try Data(bytes).write(to: URL(filePath: file))
        if let peers {
            func show(_ name: String, _ words: [String]) {
                print(Peers.call(words).split(separator: "\n").last.map(String.init) ?? "\(name) did not run")
            }
            for (program, script) in [
                (python, "icalendar_read.py"), ("php", "vobject_read.php"), ("node", "icaljs_read.mjs"),
            ] {
                show(script, [program, "\(peers)/\(script)", file])
            }
            // This peer is compiled, and whoever built it says where.
            if let calcard = ProcessInfo.processInfo.environment["CALCARD_READ"], !calcard.isEmpty {
                show("calcard", [calcard, file, "\(runs)"])
            } else {
                print("calcard did not run: CALCARD_READ names no program")
            }
        }
        print(Peers.call([CommandLine.arguments[0], "read", "--values", file]))
        let large = folder.appending(path: "large.ics").path
        try Data(SampleFile.bytes(events: 215_000)).write(to: URL(filePath: large))
        // The measurement has its own process, whose memory nothing else has used.
        print(Peers.call([CommandLine.arguments[0], "read", "--stream", large]))
    }

    /// The time of one way of reading, compared with libical in the same runs.
    private struct Measured {
        /// The median time.
        var milliseconds: Double
        /// How many times as fast as libical: by the medians, and the least and the most of any run.
        var ratio: Double, least: Double, most: Double

        init(_ times: [Double], beside raw: [Double]) {
            let middle = times.count / 2
            milliseconds = times.sorted()[middle]
            ratio = raw.sorted()[middle] / milliseconds
            let ratios = zip(raw, times).map { $0 / $1 }
            (least, most) = (ratios.min() ?? 0, ratios.max() ?? 0)
        }

        var output: String {
            "\(rounded(ratio, 2)) times as fast (\(rounded(least, 2)) to \(rounded(most, 2)))"
        }
    }

    /// Measures libical, Kalends on one thread and Kalends on two, taking turns, so that other work slows all of them alike.
    private static func measure(
        _ bytes: [UInt8], runs: Int, _ reader: (_ threads: Int) -> CalendarReader
    ) -> [Measured] {
        let clock = ContinuousClock()
        var times: [[Double]] = [[], [], []]
        // The results are released outside of the measured time.
        for _ in 0..<runs {
            var tree: LibicalTree?
            times[0].append(clock.measure { tree = LibicalTree(bytes) } / .milliseconds(1))
            keep(tree)
            tree = nil
            // The allocator merges the many small blocks of the tree at the next large request, which would be Kalends'.
            _ = kalends_return_memory(0)
            for threads in 1...2 {
                var reading: CalendarReading?
                times[threads].append(clock.measure { reading = reader(threads).read(bytes) } / .milliseconds(1))
                keep(reading)
                reading = nil
            }
        }
        return times.map { Measured($0, beside: times[0]) }
    }

    private static func values(_ path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let idle = try memory("VmRSS:")
        var options = CalendarReader.Options(limits: .large)
        options.threads = 1
        let reading = CalendarReader(options: options).read(bytes)
        let (held, most) = (try memory("VmRSS:") - idle, try memory("VmHWM:") - idle)
        func share(_ kilobytes: Int) -> String { rounded(Double(kilobytes) * 1024 / Double(bytes.count), 2) }
        print(
            "Kalends: the values of \(bytes.count / 1_000_000) MB, \(reading.events.count) events: "
                + "\(share(held)) times the file, \(share(most)) at most while it is read (at most 3 is wanted)")
    }

    private static func stream(_ path: String) throws {
        let idle = try memory("VmRSS:")
        var events = 0
        let clock = ContinuousClock()
        let time = try clock.measure {
            let reading = try CalendarReader(options: .init(limits: .large)).stream(rereading: {
                let file = try FileHandle(forReadingFrom: URL(filePath: path))
                return { try file.read(upToCount: 1 << 20).map { [UInt8]($0) } }
            }) { events += $0.events.count }
            keep(reading)
        }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        let over = (try memory("VmHWM:") - idle) / 1024
        row(
            "Kalends: streaming \(size / 1_000_000) MB, \(events) events", time / .milliseconds(1),
            "\(over) MiB over idle (at most 64 is wanted)")
    }

    /// A line of this process's status, in kB.
    private static func memory(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
