// SPDX-License-Identifier: Apache-2.0

/// The state that the engine keeps between two runs.
public struct EngineState: Hashable, Sendable, Codable {
    /// The format's version; it increases when older programs cannot read what newer ones write.
    public var version = 1
    /// `nextSince` of the last page that is included.
    public var cursor = 0
    public var user: String?
    /// The server's clock minus the device's, in milliseconds.
    public var serverAhead = 0
    /// The server's events as they were last seen, including changed occurrences.
    public var events: [RemoteEvent] = []
    public var links: [Link] = []
    public var journal: [JournalEntry] = []
    /// When events of the last day were deleted on either side, in milliseconds since 1970.
    public var deletions: [Int] = []
    /// The calendars and days of the last run; in the first run after a change, nothing counts as missing.
    public var scope: String?
    /// The titles of the calendars in use, by which a calendar is found again when its id has changed.
    public var calendarTitles: [ByteString: String] = [:]
    /// The new ids of calendars that were found again, by the ids in the settings.
    public var calendarAliases: [ByteString: String] = [:]
    public var nextLink = 1
    /// The problem with this device's calendars that was last reported to the server.
    public var reportedProblem: String?
    /// The id of the calendar whose account dropped the mark of an event as it was written; no more events are made
    /// there. Nil when none did, and after the person chose calendars again.
    public var unmarkingCalendar: String?
    /// The report about the end of the connection that the server has not received yet; then nothing else is in the state.
    public var owedReport: String?
    /// Whether a person has approved the deletions for which the last run was held.
    public var isApproved = false

    /// How long journal entries are kept, in milliseconds, and how many entries at most.
    static let journalTime = 90 * 86_400_000
    static let journalLength = 2000

    public init() {}

    /// Stores a new id for a calendar of the settings.
    mutating func call(calendar id: String, _ new: String) {
        let old = calendarAliases[id] ?? id
        calendarAliases[id] = new
        for index in links.indices where links[index].key?.calendarID == old { links[index].key?.calendarID = new }
    }

    mutating func note(
        _ action: JournalEntry.Action, of link: Link, at now: Int, before: EventUnit?, after: EventUnit? = nil
    ) {
        journal.append(JournalEntry(at: now, link: link.number, action: action, before: before, after: after))
    }

    /// Notes an action that may be tried several times, but only once.
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
