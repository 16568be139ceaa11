// SPDX-License-Identifier: Apache-2.0

/// A feed on a terminal: whose it is, how often it was read, and when each program came and is expected again.
struct FeedLines {
    let lines: [String]

    /// - Parameter feed: as the API lists it.
    init(_ feed: JSONValue) {
        func text(_ value: JSONValue?) -> String { printable(value?.string ?? "") }
        let label = feed["label"]?.string.map { " “\(printable($0))”" } ?? ""
        var first = "\(text(feed["id"]))  \(text(feed["circleId"]))/\(text(feed["userId"]))\(label)  "
        first += "\(text(feed["tokenHint"]))  "
        if let revoked = feed["revokedAt"]?.string { first += "revoked \(Self.time(revoked)), " }
        let count = feed["accessCount"]?.integer ?? 0
        first += count == 0 ? "never read" : "read \(Self.times(count))"
        if let last = feed["lastAccessedAt"]?.string { first += ", last \(Self.time(last))" }
        let clients = feed["clients"]?.array ?? []
        let rhythms = feed["health"]?["clients"]?.array ?? []
        lines =
            [first]
            + (feed["attention"]?.array ?? []).map {
                "    ATTENTION, \(Self.time(text($0["at"]))): \(text($0["message"]))"
            }
            + clients.map { client in
                let rhythm = rhythms.first { $0["client"] == client["client"] }
                let count = client["count"]?.integer ?? 0
                return
                    "    \(text(client["client"])): \(Self.times(count)), last \(Self.time(text(client["lastSeenAt"])))"
                    + (feed["revokedAt"]?.string == nil ? Self.next(rhythm) : "")
            }
    }

    private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    /// When a program is expected, as far as its rhythm is known.
    private static func next(_ rhythm: JSONValue?) -> String {
        guard let expected = rhythm?["expectedAt"]?.string else { return "" }
        return rhythm?["isOverdue"] == true
            ? "; OVERDUE, expected \(time(expected))" : "; next expected \(time(expected))"
    }

    /// `2026-01-21 17:00 UTC` of `2026-01-21T17:00:00Z`.
    private static func time(_ text: String) -> String {
        guard text.hasSuffix("Z"), text.utf8.count == 20 else { return text }
        return text.prefix(16).replacing("T", with: " ") + " UTC"
    }
}
