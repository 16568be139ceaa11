// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The item that an event shows.
public struct ItemKey: Hashable, Sendable, Codable {
    public enum Collection: String, Hashable, Sendable, Codable, CaseIterable {
        case tasks, shifts, appointments
        case followUps = "follow-ups"
        case officeDays = "office-days"
    }

    public var collection: Collection
    public var id: String
    /// The occurrence, by the instant at which it would have begun, of a series whose occurrences are single events
    /// because the provider cannot express the series; nil for the whole item.
    public var occurrence: Instant?

    public init(_ collection: Collection, _ id: String, at occurrence: Instant? = nil) {
        self.collection = collection
        self.id = id
        self.occurrence = occurrence
    }

    /// The item itself.
    public var whole: ItemKey { ItemKey(collection, id) }
}

extension ItemKey {
    /// The occurrence in its form in a mark, `20260121T170000Z`; nil for the whole item.
    var markedOccurrence: String? { occurrence?.basic }

    /// Reads the occurrence from its form in a mark, `20260121T170000Z`; returns nil if it has another form.
    init?(_ collection: Collection, _ id: String, marked occurrence: String?) {
        self.init(collection, id)
        guard let occurrence else { return }
        guard let start = Instant(basic: occurrence), start.basic.isSameText(as: occurrence) else { return nil }
        self.occurrence = start
    }
}

/// The mark that our events carry at the provider, so that they are found again and never created twice.
///
/// Its fields hold no secrets and nothing about a person; the ids are those of the host application.
public struct EventMark: Hashable, Sendable, Codable {
    public var installation: String
    public var connection: String
    public var circle: String
    public var item: ItemKey
    /// Increases when an event has to be created again, because identifiers of deleted events stay taken.
    public var generation: Int

    /// The generations that are accepted from a mark: marks are read from calendars, where anyone may write one.
    static let generations = 0...1_000_000

    public init(installation: String, connection: String, circle: String, item: ItemKey, generation: Int) {
        self.installation = installation
        self.connection = connection
        self.circle = circle
        self.item = item
        self.generation = generation
    }

    /// Reports whether an event in a file is one that some Kalends wrote into a calendar, by the identifiers that the
    /// file can have of it: the UID at CalDAV servers and at Google, and the URL on phones.
    ///
    /// A copy that a person made has identifiers of its own.
    public static func isOn(uid: String, url: String?) -> Bool {
        if let url, url.hasPrefix("kalends:/") || url.utf8.count < 2000 && url.contains("/app/#kalends-event/") {
            return true
        }
        return CalDAVIdentity.isUID(uid) || GoogleMark.isUID(uid)
    }

    /// Reports whether both marks name one item at one installation, whichever connection wrote them.
    func isSameItem(as other: EventMark) -> Bool {
        installation == other.installation && circle == other.circle && item == other.item
    }
}
