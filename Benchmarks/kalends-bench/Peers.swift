// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge

/// Other libraries that make the same calendar, run by the programs in `Scripts/render-peers`.
struct Peers {
    let python: String
    let folder: String

    /// Prints how long each library took, or why it did not run.
    func run(_ calendar: [String], _ events: [Event], text: [UInt8]) throws {
        let work = FileManager.default.temporaryDirectory.appending(path: "kalends-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        let source = work.appending(path: "events.json")
        let ours = work.appending(path: "ours.ics")
        try JSONSerialization.data(withJSONObject: [
            "calendar": calendar.map { $0.split(separator: ":", maxSplits: 1).map(String.init) },
            "timezones": Self.timeZones(text), "events": events.map(Self.fields),
        ]).write(to: source)
        try Data(text).write(to: ours)
        let programs = [
            ("python icalendar", python, "icalendar_render.py"), ("PHP sabre/vobject", "php", "vobject_render.php"),
        ]
        for (name, program, script) in programs {
            let output = work.appending(path: "theirs.ics")
            let transcript = Self.call([program, "\(folder)/\(script)", source.path, output.path])
            guard let json = try? JSONSerialization.jsonObject(with: Data(transcript.utf8)) as? [String: Any] else {
                print("\(name): did not run (\(transcript.split(separator: "\n").last ?? "no answer"))")
                continue
            }
            func number(_ name: String) -> Double { json[name] as? Double ?? 0 }
            let title = "\(json["library"] as? String ?? "") \(json["version"] as? String ?? "")"
            let same = Self.call([python, "\(folder)/same.py", ours.path, output.path])
            row("\(title): values to text", number("buildAndWriteMilliseconds"), same)
            row("\(title): its tree to text", number("writeMilliseconds"))
        }
    }

    static func call(_ words: [String]) -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        guard (try? process.run()) != nil else { return "" }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func fields(_ event: Event) -> [String: Any] {
        var fields: [String: Any] = [
            "uid": event.uid, "sequence": event.sequence, "summary": event.summary ?? "",
            "categories": event.categories, "status": event.status ?? "",
            "transp": event.isTransparent == true ? "TRANSPARENT" : "OPAQUE",
            "busystatus": event.isTransparent == true ? "FREE" : "BUSY",
        ]
        func basic(_ instant: Instant) -> String {
            CivilDateTime(wallSeconds: instant.seconds).basic + "Z"
        }
        for (name, instant) in [
            ("dtstamp", event.timestamp), ("created", event.created), ("lastModified", event.lastModified),
        ] {
            if let instant { fields[name] = basic(instant) }
        }
        for (name, text) in [("description", event.description), ("location", event.location)] {
            if let text { fields[name] = text }
        }
        func time(_ name: String, _ time: EventTime?) {
            switch time {
            case .zoned(let wall, let zone):
                fields[name] = wall.basic
                fields["tzid"] = zone.identifier
            case .utc(let instant): fields[name] = basic(instant)
            case .date(let date): fields[name] = date.basic
            case .floating(let wall): fields[name] = wall.basic
            case nil: break
            }
        }
        time("start", event.start)
        time("end", event.effectiveEnd)
        fields["alarms"] = event.alarms.compactMap { alarm -> Int? in
            if case .relativeToStart(let duration) = alarm.trigger { return -duration.seconds / 60 }
            return nil
        }
        return fields
    }

    /// Reads the VTIMEZONEs of a calendar's text line by line: every library is given ours.
    private static func timeZones(_ text: [UInt8]) -> [[String: Any]] {
        var zones: [[String: Any]] = []
        var observances: [[String: Any]] = []
        var current: [String: Any] = [:]
        var tzid = ""
        for line in String(decoding: text, as: UTF8.self).components(separatedBy: "\r\n") {
            if line == "BEGIN:VEVENT" { break }
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch (parts[0], parts[1]) {
            case ("BEGIN", "VTIMEZONE"): observances = []
            case ("BEGIN", "STANDARD"), ("BEGIN", "DAYLIGHT"): current = ["daylight": parts[1] == "DAYLIGHT"]
            case ("END", "STANDARD"), ("END", "DAYLIGHT"): observances.append(current)
            case ("END", "VTIMEZONE"): zones.append(["tzid": tzid, "observances": observances])
            case ("TZID", let name): tzid = name
            case ("DTSTART", let value): current["dtstart"] = value
            case ("RRULE", let value): current["rrule"] = value
            case ("RDATE", let value): current["rdates"] = (current["rdates"] as? [String] ?? []) + [value]
            case ("TZOFFSETFROM", let value): current["from"] = value
            case ("TZOFFSETTO", let value): current["to"] = value
            case ("TZNAME", let value): current["name"] = value
            default: break
            }
        }
        return zones
    }
}
