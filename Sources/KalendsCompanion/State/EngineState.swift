// SPDX-License-Identifier: Apache-2.0

/// Everything that the engine remembers between two runs.
public struct EngineState: Hashable, Sendable, Codable {
    /// Rises when an older program could not read what a newer one wrote.
    public var version = 1
    /// `nextSince` of the last page that is in here.
    public var cursor = 0
    public var user: String?
    /// The server's clock minus the device's, in milliseconds.
    public var serverAhead = 0
    /// The server's events as they were last seen, changed occurrences among them.
    public var events: [RemoteEvent] = []
    public var links: [Link] = []
    public var journal: [JournalEntry] = []
    /// When events were deleted on either side, in milliseconds since 1970; those of the last day.
    public var deletions: [Int] = []
    /// What was looked at in the last run; after another choice nothing counts as missing for a run.
    public var scope: String?
    /// The titles of the calendars that are in use, by which one is found again when its id changed.
    public var calendarTitles: [ByteString: String] = [:]
    /// New ids of calendars that were found again, by those in the settings.
    public var calendarAliases: [ByteString: String] = [:]
    public var nextLink = 1
    /// What keeps this device from its calendars, as the server last heard it.
    public var reportedProblem: String?
    /// Whether a person approved the deletions for which the last run was held.
    public var isApproved = false

    /// How long the journal goes back, in milliseconds, and how many entries it has at most.
    static let journalTime = 90 * 86_400_000
    static let journalLength = 2000

    public init() {}

    /// A calendar of the settings is found under another id from now on.
    mutating func call(calendar id: String, _ new: String) {
        let old = calendarAliases[id] ?? id
        calendarAliases[id] = new
        for place in links.indices where links[place].key?.calendarID == old { links[place].key?.calendarID = new }
    }

    mutating func note(
        _ action: JournalEntry.Action, of link: Link, at now: Int, before: EventUnit?, after: EventUnit? = nil
    ) {
        journal.append(JournalEntry(at: now, link: link.number, action: action, before: before, after: after))
    }

    /// Notes what may be tried several times.
    mutating func noteOnce(
        _ action: JournalEntry.Action, of link: Link, at now: Int, before: EventUnit?, after: EventUnit? = nil
    ) {
        let isKnown = journal.suffix(200).contains { entry in
            entry.link == link.number && entry.action == action && entry.before == before && entry.after == after
        }
        if !isKnown { note(action, of: link, at: now, before: before, after: after) }
    }

    mutating func forgetOldNotes(_ now: Int) {
        journal.removeAll { $0.at < now - Self.journalTime }
        if journal.count > Self.journalLength { journal.removeFirst(journal.count - Self.journalLength) }
        deletions.removeAll { $0 <= now - 86_400_000 }
    }
}
