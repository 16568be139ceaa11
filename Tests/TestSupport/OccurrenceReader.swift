// SPDX-License-Identifier: Apache-2.0

package import Base
import Foundation

/// A library of another project that expands calendars.
package enum OccurrenceReader: String, CaseIterable, Sendable {
    /// The PyPI packages icalendar with recurring-ical-events; ical, of Home Assistant; ical.js, of Thunderbird.
    case icalendar, ical, icaljs

    /// The years that are compared.
    package struct Years: Sendable {
        package var first: Int
        /// The year after the last one.
        package var end: Int

        package init(first: Int, end: Int) { (self.first, self.end) = (first, end) }

        /// Whether a start is compared: at the ends of the years, days of zones are in or out.
        package func compare(_ start: String) -> Bool { start >= "\(first)-02" && start < "\(end - 1)-12" }
    }

    /// An occurrence, with its start and end in UTC or as they are where they have no zone.
    package struct Occurrence: Hashable, Comparable, Sendable, CustomStringConvertible {
        package var start: String
        package var end: String
        package var uid: ByteString

        /// A UID that was made for an event without one is as good as none.
        package init(start: String, end: String, uid: String) {
            (self.start, self.end) = (start, end)
            self.uid = ByteString(uid.hasPrefix("content-") ? "" : uid.withoutOuterBlanks)
        }

        package var description: String { "\(start)/\(end) \(uid)" }

        package static func < (a: Self, b: Self) -> Bool {
            a.start == b.start ? a.description < b.description : a.start < b.start
        }
    }

    /// What a library makes of calendars.
    package struct Expansion: Sendable {
        /// Sorted.
        package var occurrences: [Occurrence] = []
        /// The series that the library is known to get wrong, whoever wrote them.
        package var doubtful: Set<ByteString> = []
    }

    /// The program and its first arguments; nil where the library is not installed.
    private var command: [String]? {
        let folder = packageRoot.appending(path: "Tests/Readers").path
        switch self {
        case .icalendar, .ical:
            return Programs.python.map { [$0, "-B", "-W", "ignore", "\(folder)/occurrences.py", rawValue] }
        case .icaljs:
            guard let node = Programs.node, let package = Programs.icaljs else { return nil }
            return [node, "\(folder)/occurrences.mjs", package]
        }
    }

    package static let installed = allCases.filter { $0.command != nil }

    /// Expands calendars in these years.
    ///
    /// - Parameter calendars: their bytes, each with a name.
    /// - Returns: the expansions by name, without calendars that the library refuses.
    package func expand(
        _ calendars: some Sequence<(name: String, bytes: [UInt8])>, in years: Years
    ) async throws -> [ByteString: Expansion] {
        guard let command else { return [:] }
        var input = Data()
        var found: [ByteString: Expansion] = [:]
        for (name, bytes) in calendars {
            input += Data("\(name)\t\(Data(bytes).base64EncodedString())\n".utf8)
            found[ByteString(name)] = Expansion()
        }
        let result = try await runProgram(
            command[0], command.dropFirst() + ["\(years.first)", "\(years.end)"], input: input, in: packageRoot)
        guard result.status == 0 else { throw Failed(words: "\(rawValue): \(result.error)") }
        for line in result.output.split(separator: "\n") {
            let row = (try JSONValue(parsing: line.utf8).array ?? []).compactMap(\.string)
            guard let name = row.first.map({ ByteString($0) }) else { continue }
            switch row.count {
            case 4 where years.compare(row[2]):
                found[name]?.occurrences.append(Occurrence(start: row[2], end: row[3], uid: row[1]))
            case 4: continue
            case 2: found[name]?.doubtful.insert(Occurrence(start: "", end: "", uid: row[1]).uid)
            default: found[name] = nil
            }
        }
        return found.mapValues {
            Expansion(occurrences: $0.occurrences.sorted(), doubtful: $0.doubtful)
        }
    }

    private struct Failed: Error { var words: String }
}
