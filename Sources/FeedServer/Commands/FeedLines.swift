// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Formats feeds for a terminal: the owner, the number of reads, and when each program last read and is expected again.
struct FeedLines {
    let lines: [String]

    /// - Parameters:
    ///   - feeds: the feeds as the API lists them.
    ///   - now: the present; a former address that is answered no longer is not shown.
    init(_ feeds: [JSONValue], now: Instant) {
        var table = TextTable(["ID", "CIRCLE", "USER", "LABEL", "TOKEN", "STATE", "READ", "LAST READ"])
        func text(_ value: JSONValue?) -> String { value?.string ?? "" }
        for feed in feeds {
            let count = feed["accessCount"]?.integer ?? 0
            table.add([
                text(feed["id"]), text(feed["circleId"]), text(feed["userId"]), text(feed["label"]),
                text(feed["tokenHint"]), Self.state(feed),
                count == 0 ? "never" : Self.times(count), TextTable.time(text(feed["lastAccessedAt"])),
            ])
            if let until = Self.former(feed, now: now) {
                table.note("The old address is answered until \(TextTable.time(until))")
            }
            for entry in feed["attention"]?.array ?? [] {
                table.note("ATTENTION, \(TextTable.time(text(entry["at"]))): \(text(entry["message"]))")
            }
            let rhythms = feed["health"]?["clients"]?.array ?? []
            for client in feed["clients"]?.array ?? [] {
                let rhythm = rhythms.first { $0["client"] == client["client"] }
                table.note(
                    "\(text(client["client"])): \(Self.times(client["count"]?.integer ?? 0)), last "
                        + TextTable.time(text(client["lastSeenAt"]))
                        + (feed["revokedAt"]?.string == nil ? Self.next(rhythm) : ""))
            }
        }
        lines = table.lines
    }

    private static func state(_ feed: JSONValue) -> String {
        if let revoked = feed["revokedAt"]?.string { return "revoked \(TextTable.time(revoked))" }
        return feed["expiresAt"]?.string.map { "until \(TextTable.time($0))" } ?? "live"
    }

    /// Returns until when a former address of a feed is answered, in the API's form; nil when none is.
    static func former(_ feed: JSONValue, now: Instant) -> String? {
        feed["formerUntil"]?.string.flatMap { text in (Instant(rfc3339: text) ?? now) > now ? text : nil }
    }

    private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    /// The time at which a program is expected, as far as its rhythm is known.
    private static func next(_ rhythm: JSONValue?) -> String {
        guard let expected = rhythm?["expectedAt"]?.string else { return "" }
        return rhythm?["isOverdue"] == true
            ? "; OVERDUE, expected \(TextTable.time(expected))" : "; next expected \(TextTable.time(expected))"
    }
}
