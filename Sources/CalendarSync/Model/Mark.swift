// SPDX-License-Identifier: Apache-2.0

/// The item that an event shows.
public struct ItemKey: Hashable, Sendable, Codable {
    public enum Collection: String, Hashable, Sendable, Codable, CaseIterable {
        case tasks, shifts, appointments
        case followUps = "follow-ups"
        case officeDays = "office-days"
    }

    public var collection: Collection
    public var id: String

    public init(_ collection: Collection, _ id: String) {
        self.collection = collection
        self.id = id
    }
}

/// What an event of ours carries at the provider, so that it is found again and never made twice.
///
/// Its fields hold no secret and nothing about a person; ids are those of the host application.
public struct Mark: Hashable, Sendable, Codable {
    public var installation: String
    public var connection: String
    public var circle: String
    public var item: ItemKey
    /// Rises when an event has to be made again, because identifiers of deleted events stay taken.
    public var generation: Int

    /// Generations that a mark is believed to have: it is read from calendars, and anybody may write one there.
    static let generations = 0...1_000_000

    public init(installation: String, connection: String, circle: String, item: ItemKey, generation: Int) {
        self.installation = installation
        self.connection = connection
        self.circle = circle
        self.item = item
        self.generation = generation
    }

    /// Whether both are of one item at one installation, whichever connection wrote them.
    func isSameItem(as other: Mark) -> Bool {
        installation == other.installation && circle == other.circle && item == other.item
    }
}
