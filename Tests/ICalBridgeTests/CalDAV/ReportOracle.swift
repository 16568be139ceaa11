// SPDX-License-Identifier: Apache-2.0

@testable import ICalBridge

/// What reports find in the objects of the sample files, in the windows of `Oracles/reports.py`.
enum ReportOracle {
    static let windows: [TimeRange] = (0..<49).map { number in
        // 2024-01-01T01:07:00Z
        let start = Instant(seconds: 1_704_071_220 + number * 37 * 86_400)
        return TimeRange(from: start, to: start.adding(seconds: 20 * 86_400))
    }

    /// Returns the events of a file as objects, one for each UID.
    static func objects(in file: [UInt8]) -> [[UInt8]] {
        guard let tree = ObjectTree(file) else { return [] }
        var objects: [ObjectTree] = []
        var positions: [ByteString: Int] = [:]
        for event in tree.components where event.name == "VEVENT" {
            guard let uid = event.line("UID").map({ ByteString($0.value) }) else { continue }
            if positions[uid] == nil {
                var object = tree
                object.lines.removeAll { $0.name == "METHOD" }
                object.components.removeAll { $0.name != "VTIMEZONE" }
                positions[uid] = objects.count
                objects.append(object)
            }
            if let index = positions[uid] { objects[index].components.append(event) }
        }
        return objects.map(\.text).filter { (try? CalendarObjectCheck.checked($0)) != nil }
    }

    /// Returns the starts of an object's occurrences in each window, sorted.
    static func starts(of object: ReportedObject) throws -> [[String]] {
        try windows.map { window in
            try object.expanded(in: window).components.map { $0.line("DTSTART")?.value ?? "" }.sorted()
        }
    }

    /// Returns for each window whether a filter on its time finds an object.
    static func matches(of object: ReportedObject) -> [Bool] {
        windows.map { window in object.contents.parts.indices.contains { object.isWithin(window, part: $0) } }
    }
}
