// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import ICalBridge

struct Read: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Files into values with problems: beside libical's parser alone, Python and PHP; memory of a stream.")

    @Option(help: "How many events.") var events = 50_000
    @Option(help: "How many runs; the median counts.") var runs = 7
    @Option(help: "The folder of other libraries' programs; none is run without it.") var peers: String?
    @Option(help: "The Python that has icalendar.") var python = "python3"
    @Option(help: "Streams this file and tells the memory; a part of the program's own run.") var stream: String?

    func run() throws {
        if let stream { return try Self.stream(stream) }
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
        // In turn, so that what else runs on the machine falls on all alike.
        var times: [String: [Double]] = [:]
        let clock = ContinuousClock()
        func time(_ name: String, _ work: () -> Void) {
            times[name, default: []].append(clock.measure(work) / .milliseconds(1))
        }
        for _ in 0..<runs {
            // Its tree is let go outside of the time.
            var tree: LibicalTree?
            time("raw") { tree = LibicalTree(bytes) }
            keep(tree)
            time("two") { keep(reader(2).read(bytes)) }
            time("one") { keep(reader(1).read(bytes)) }
        }
        let median = times.mapValues { $0.sorted()[runs / 2] }
        guard let raw = median["raw"], let two = median["two"], let one = median["one"] else { return }
        row("libical: icalparser_parse_string alone, one thread", raw)
        row("Kalends: values and problems, two threads", two, "\(rounded(raw / two, 2)) times as fast")
        row("Kalends: values and problems, one thread", one, "\(rounded(raw / one, 2)) times as fast")
        print("(at least 1.5 with two threads is wanted)")

        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "events.ics").path
        try Data(bytes).write(to: URL(filePath: file))
        if let peers {
            for (program, script) in [
                (python, "icalendar_read.py"), ("php", "vobject_read.php"), ("node", "icaljs_read.mjs"),
            ] {
                let told = Peers.call([program, "\(peers)/\(script)", file])
                print(told.split(separator: "\n").last.map(String.init) ?? "\(script) did not run")
            }
        }
        let large = folder.appending(path: "large.ics").path
        try Data(SampleFile.bytes(events: 215_000)).write(to: URL(filePath: large))
        // A process of its own, whose memory nothing else has used.
        print(Peers.call([CommandLine.arguments[0], "read", "--stream", large]))
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
