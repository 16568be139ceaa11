// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import PhoneTexts

/// What goes to the terminal.
enum Output {
    static func line(_ text: String) { write(text, to: .standardOutput) }
    static func error(_ text: String) { write(text, to: .standardError) }
    static func json(_ value: JSONValue) throws { line(try value.text()) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A reader that has gone away ends the program as it ends others.
        try? handle.write(contentsOf: Data("\(text)\n".utf8))
    }

    /// A time in milliseconds since 1970, as RFC 3339 in UTC.
    static func time(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
    }
}

extension SyncStatus {
    /// The status under the names of its file.
    var json: JSONValue {
        get throws { try JSONValue(parsing: JSONEncoder().encode(self)) }
    }

    /// The status as a person reads it.
    var lines: [String] {
        var lines = [
            "Last sync: \(lastSyncAt.map(Output.time) ?? "never")",
            "Planned events: \(counts.events) (\(counts.upserted) upserted, \(counts.deleted) deleted)",
            "Calendars: \(counts.written) written here, \(counts.sent) sent, \(counts.failed) failed",
        ]
        if let lastError { lines.append(lastError.text) }
        if let pause { lines.append(pause.sentence) }
        return lines
    }
}

extension SyncPause {
    /// What a person can do about it.
    var sentence: String {
        switch self {
        case .permissionMissing: "Paused: the folder cannot be read and written. Nothing was deleted."
        case .calendarGone: "Paused: a chosen calendar is not there. Nothing was deleted. Choose with `calendars`."
        case .calendarReadOnly: "Paused: the calendar that shows the server's events cannot be written."
        case .held: "Held: this sync would delete many events. Look, and then run `kalends-companion sync --approve`."
        }
    }
}
