// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// An event as it was read, with its line in the file.
package struct ReadEvent: Sendable {
    var event: Event
    var line: Int
    /// Whether the file has it only as a change of a series that is not in the file.
    var isSettled = false
}

/// A block of consecutive events of a file, as the worker, the spool and the database hold it: it has the place in the file
/// of its first event, from 0.
package enum ImportBlock {
    /// The most events of a block, and the most bytes of one with several events.
    package static let size = 100
    private static let most = 256 << 10
    /// The most bytes of one event, with the people and files that may be left out of it when it is stored.
    package static let mostOfEvent = 2 << 20

    /// Returns at most `size` events as blocks in packed form, without those that are too large for any.
    package static func packed(_ events: [ReadEvent]) -> (blocks: [[UInt8]], tooLarge: [ReadEvent]) {
        let bytes = whole(events)
        if events.count > 1, bytes.count > most {
            let halves = [events.prefix(events.count / 2), events.dropFirst(events.count / 2)].map { packed(Array($0)) }
            return (halves.flatMap(\.blocks), halves.flatMap(\.tooLarge))
        }
        return bytes.count > mostOfEvent ? ([], events) : ([bytes], [])
    }

    private static func whole(_ events: [ReadEvent]) -> [UInt8] {
        var writer = PackWriter()
        writer.write(events) { writer, read in
            writer.write(read.line)
            writer.write(read.isSettled ? 1 : 0)
            writer.write(read.event)
        }
        return writer.bytes
    }

    static func events(_ bytes: [UInt8]) throws -> [ReadEvent] {
        try list(bytes) { (reader) throws(PackError) in
            let (line, isSettled) = (try reader.integer(), try reader.integer() != 0)
            return ReadEvent(event: try reader.event(), line: line, isSettled: isSettled)
        }
    }

    /// Returns the events with only what an index needs of them.
    static func identities(_ bytes: [UInt8]) throws -> [Event] {
        try list(bytes) { (reader) throws(PackError) in
            _ = (try reader.integer(), try reader.integer())
            return try reader.identity()
        }
    }

    /// Returns how many events a block says that it has; who says it may be in a stranger's hands.
    static func count(_ bytes: [UInt8]) throws -> Int {
        var reader = PackReader(bytes)
        let count = try reader.integer()
        guard (1...size).contains(count) else { throw reader.failure() }
        return count
    }

    private static func list<Element>(
        _ bytes: [UInt8], _ body: (inout PackReader) throws(PackError) -> Element
    ) throws -> [Element] {
        // A block without events would be read again and again.
        _ = try count(bytes)
        var reader = PackReader(bytes)
        return try reader.list(body)
    }
}

/// The report on a whole file, apart from its events.
package struct ImportSummary: Sendable {
    var events: Int
    /// The number of components with a time that could not be read or whose kind is not imported.
    var skipped: Int
    var problems: [Problem]
    var zones: [TimeZoneResolution]
}

extension ImportSummary {
    func write(to writer: inout PackWriter) {
        writer.write(events)
        writer.write(skipped)
        writer.write(problems) { writer, problem in
            writer.write(problem.line)
            writer.write(problem.severity.rawValue)
            writer.write(problem.code.rawValue)
            writer.write(problem.sentence)
            writer.field("c", problem.column)
            writer.field("u", problem.uid)
            writer.field("t", problem.text)
            writer.tag(".")
        }
        writer.write(zones) { writer, zone in
            writer.write(zone.tzid)
            writer.write(zone.how.rawValue)
            writer.field("r", zone.resolvedTo)
            writer.tag(".")
        }
    }

    init(_ reader: inout PackReader) throws(PackError) {
        events = try reader.integer()
        skipped = try reader.integer()
        guard (0...1 << 30).contains(events), (0...1 << 30).contains(skipped) else { throw reader.failure() }
        problems = try reader.list { (reader) throws(PackError) in
            let line = try reader.integer()
            guard let severity = Problem.Severity(rawValue: try reader.text()) else { throw reader.failure() }
            var problem = Problem(
                line: line, severity: severity, code: Problem.Code(rawValue: try reader.text()),
                sentence: try reader.sentence())
            while let letter = try reader.tag() {
                switch letter {
                case "c": problem.column = try reader.integer()
                case "u": problem.uid = try reader.text()
                case "t": problem.text = try reader.text()
                default: throw reader.failure()
                }
            }
            return problem
        }
        zones = try reader.list { (reader) throws(PackError) in
            let tzid = try reader.text()
            guard let how = TimeZoneResolution.How(text: try reader.text()) else { throw reader.failure() }
            var zone = TimeZoneResolution(tzid: tzid, resolvedTo: nil, how: how)
            while let letter = try reader.tag() {
                guard letter == "r" else { throw reader.failure() }
                zone.resolvedTo = try reader.text()
            }
            return zone
        }
    }
}
