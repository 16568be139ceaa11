// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// The parts of a client's component that a circle does not store: alarms, colours, and what Kalends does not know. It
/// is written into the text that its person gets, and into no other.
public struct PersonalParts: Hashable, Sendable, Codable {
    /// The original start of an occurrence, in seconds since 1970; nil for the series itself.
    public var original: Int?
    /// Properties as they were written, without the end of their line.
    public var lines: [String]
    /// The alarms, each with its lines; nil if they are those of the item.
    public var alarms: [String]?

    private static let ours: [String] = [
        "UID", "DTSTAMP", "DTSTART", "DTEND", "DURATION", "DUE", "SUMMARY", "DESCRIPTION", "LOCATION", "STATUS",
        "TRANSP", "SEQUENCE", "LAST-MODIFIED", "CREATED", "RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID",
        "COMPLETED", "X-MICROSOFT-CDO-BUSYSTATUS",
    ]
    /// Properties whose value for a person replaces the item's.
    private static let replacing = ["CATEGORIES", "URL"]

    /// Returns the parts of all components of an object that have any, with all their alarms.
    static func all(of object: CalendarObject) -> [PersonalParts] {
        zip(object.tree.placed, object.originals).map { component, original in
            PersonalParts(
                original: original?.seconds,
                lines: component.lines.filter { line in !ours.contains { $0 == line.name } }
                    .map { String(fromOutside: $0.bytes) },
                alarms: component.components.filter { $0.name == "VALARM" }.map { String(fromOutside: $0.text) })
        }
    }

    /// Returns what of a client's parts is the person's own, compared with the text without any.
    ///
    /// Alarms that go off as the item's do are the item's, whatever else the client wrote into them.
    package static func own(_ parts: [PersonalParts], beside text: [UInt8]) -> [PersonalParts] {
        guard let object = try? CalendarObject(text, floatingZone: SyncZone.utc, isTask: true) else { return parts }
        let known = all(of: object)
        return parts.compactMap { part in
            let plain = known.first { $0.original == part.original } ?? known.first { $0.original == nil }
            var own = part
            own.lines.removeAll { line in plain?.lines.contains { $0 == line } ?? false }
            if Alarms(own.alarms ?? []) == Alarms(plain?.alarms ?? []) { own.alarms = nil }
            return own.lines.isEmpty && own.alarms == nil ? nil : own
        }
    }

    /// Returns a text of ours with a person's parts; parts of occurrences that it does not have are left out.
    package static func text(_ text: [UInt8], with parts: [PersonalParts]) -> [UInt8] {
        guard !parts.isEmpty,
            let object = try? CalendarObject(text, floatingZone: SyncZone.utc, isTask: true)
        else { return text }
        var tree = object.tree
        let positions = tree.components.indices.filter { tree.components[$0].name != "VTIMEZONE" }
        for (index, original) in zip(positions, object.originals) {
            guard let part = parts.first(where: { $0.original == original?.seconds }) else { continue }
            part.write(into: &tree.components[index])
        }
        return tree.text
    }

    private func write(into component: inout ObjectTree) {
        // How much is done of a task goes with its status, which others may have changed since.
        let isDone = component.line("STATUS")?.value == "COMPLETED"
        let added = lines.compactMap { ObjectTree.Line(Array($0.utf8)) }.filter { line in
            line.name != "PERCENT-COMPLETE" || (line.value == "100") == isDone
        }
        component.lines.removeAll { line in
            Self.replacing.contains { $0 == line.name } && added.contains { $0.name == line.name }
        }
        component.lines += added
        guard let alarms else { return }
        component.components.removeAll { $0.name == "VALARM" }
        component.components += alarms.compactMap { ObjectTree(alarm: Array($0.utf8)) }
    }
}

/// When alarms go off, and whether somebody has seen them.
private struct Alarms: Hashable {
    private var triggers: [ByteString]

    init(_ alarms: [String]) {
        triggers = alarms.flatMap { alarm in
            let lines = ObjectTree(alarm: Array(alarm.utf8))?.lines ?? []
            return lines.filter { ["TRIGGER", "ACKNOWLEDGED", "RELATED-TO", "REPEAT"].contains($0.name) }
                .map { ByteString(String(fromOutside: $0.bytes)) }
        }.sorted()
    }
}

extension ObjectTree {
    /// The components with a place in time.
    var placed: [ObjectTree] { components.filter { $0.name != "VTIMEZONE" } }

    /// Reads one VALARM.
    fileprivate init?(alarm: [UInt8]) {
        let text =
            Array("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n".utf8) + alarm
            + Array("END:VEVENT\r\nEND:VCALENDAR\r\n".utf8)
        guard let alarm = ObjectTree(text)?.components.first?.components.first, alarm.name == "VALARM" else {
            return nil
        }
        self = alarm
    }
}
