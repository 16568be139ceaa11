// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import PhoneTexts

/// Output to the terminal.
enum Output {
    static func line(_ text: String) { write(text, to: .standardOutput) }
    static func error(_ text: String) { write(text, to: .standardError) }
    static func json(_ value: JSONValue) throws { line(try value.text()) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A closed pipe ends the program as it ends others.
        try? handle.write(contentsOf: Data("\(text)\n".utf8))
    }

    /// Returns a time in milliseconds since 1970 in the local zone, in RFC 3339 with its offset.
    static func time(_ milliseconds: Int, in zone: TimeZone = .current) -> String {
        let style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone)
        return Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(style)
    }

    static func count(_ number: Int, _ one: String, _ several: String) -> String {
        "\(number) \(number == 1 ? one : several)"
    }
}

extension SyncStatus {
    /// The status as JSON, with the names of the status file.
    var json: JSONValue {
        get throws { try JSONValue(parsing: JSONEncoder().encode(self)) }
    }

    /// Returns the status for people, with the counts of the last sync if there was one.
    ///
    /// - Parameter plans: whether the titles and times of any calendar go to the server.
    func lines(plans: Bool, zone: TimeZone = .current) -> [String] {
        guard let lastSyncAt else { return ["Last sync: never"] + problems }
        let good = lastError == nil || lastError == .someFailed ? "Last sync" : "Last sync that worked"
        var lines = ["\(good): \(Output.time(lastSyncAt, in: zone))"]
        if plans {
            let events = Output.count(counts.events, "event", "events")
            lines.append(
                "Planned: \(events) on the server; \(counts.upserted) added or changed, \(counts.deleted) deleted")
        }
        let sent = Output.count(counts.sent, "change", "changes")
        lines.append(
            "Events: \(sent) sent to the server, \(counts.written) written here"
                + (counts.failed > 0 ? ", \(counts.failed) failed" : ""))
        return lines + problems
    }

    private var problems: [String] {
        var lines: [String] = []
        if let lastError { lines.append(lastError.text) }
        if let pause { lines.append(pause.sentence) }
        return lines
    }
}

extension SyncPause {
    /// What a person can do about the problem.
    var sentence: String {
        switch self {
        case .permissionMissing:
            "Paused: the folder is not connected, or cannot be read and written. Nothing was deleted. "
                + "Connect it again with `kalends-companion login`."
        case .calendarGone:
            "Paused: a chosen calendar is not there. Nothing was deleted. It continues when the calendar is back; "
                + "choose another with `kalends-companion calendars`."
        case .calendarReadOnly: "Paused: the calendar that shows the server's events cannot be written."
        case .notConnected: "Paused: the folder is not connected. Connect it with `kalends-companion login`."
        case .switchedOff: "Paused: reading or writing is switched off here."
        case .switchedOffThere:
            "Paused: reading is switched off on the server. Switch it on under Connectors on the server's pages."
        case .disconnectedThere:
            "Paused: the connection was ended on the server. Connect again under Connectors on the server's pages."
        case .held:
            "Held: many events are missing at once, and nothing was deleted. If they should be deleted, run "
                + "`kalends-companion sync --approve`."
        case .marksNotKept:
            "Paused: the calendar that shows the server's events drops their addresses, so changes would not arrive. "
                + "Choose another with `kalends-companion calendars`."
        }
    }
}
