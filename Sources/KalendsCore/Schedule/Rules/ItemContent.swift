// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// The content of an item of one kind. The type describes its kind: the code that reads, shows, stores, documents or
/// syncs items uses it, and listing it in `ItemKinds` adds the kind.
package protocol ItemContent: StoredInParts {
    // MARK: The kind

    /// The collection in paths and rows, such as `follow-ups`.
    static var collection: ScheduleItem.Collection { get }
    /// The name in schemas and operations, such as `FollowUp`.
    static var name: String { get }
    /// The noun for one item in sentences, and the code of the problem for a missing item.
    static var resource: Refusal.Resource { get }
    /// An example of a request that creates an item.
    static var example: JSONValue { get }
    /// A remark on requests for the OpenAPI document, besides their fields.
    static var inputNote: String? { get }
    /// The names that appear in titles; changing one of them is a revision of the item.
    static var namesInTitles: Set<NameInTitle> { get }
    /// Whether calendars show only the owner of the item as busy.
    static var isOwnersTime: Bool { get }

    // MARK: The item

    /// The item's own zone; nil for the circle's.
    var timeZone: String? { get set }
    var patientID: String? { get }
    /// The owner's id; nil for an item without an owner, and for a kind that has no owners.
    var ownerID: String? { get }
    var notes: String? { get set }
    /// The word of the item's status; nil for a kind without a status.
    var statusWord: String? { get }
    var isCompleted: Bool { get }
    /// Whether the item is cancelled, so that calendars kept in step do not show it.
    var isCancelled: Bool { get }

    /// Returns the title for people, without the prefix that calendars add.
    func title(_ names: CircleNames) -> String

    /// Returns what calendars show of the item, with the names in its title, in times of `zone`.
    func careItem(_ names: CircleNames, in zone: TimeZoneReference) -> CareItem

    // MARK: Edits in a calendar that is kept in step; `InboundRefusal` gives the reason why one is refused.

    mutating func move(to span: TimeSpan) throws
    /// - Parameter title: without the prefix of the kind's titles.
    mutating func rename(_ title: String, _ names: CircleNames) throws
    mutating func place(_ location: String?) throws
    mutating func remind(_ minutes: [Int]) throws
    mutating func cancel() throws
}

/// A name that appears in the titles of some kinds.
package enum NameInTitle: Sendable {
    case patient, owner
}

extension ItemContent {
    package static var inputNote: String? { nil }
    package static var namesInTitles: Set<NameInTitle> { [] }
    package static var isOwnersTime: Bool { false }

    /// The plural in names of settings and operations, such as `FollowUps`.
    package static var plural: String { name + "s" }
    /// The name of the feed setting that shows the kind, such as `includeFollowUps`.
    package static var feedSetting: String { "include" + plural }
    /// The name of the connection setting that syncs the kind, such as `syncFollowUps`.
    package static var connectionSetting: String { "sync" + plural }

    package var ownerID: String? { nil }
    package var statusWord: String? { nil }
    package var isCompleted: Bool { false }
    package var isCancelled: Bool { false }

    package mutating func place(_ location: String?) throws {
        throw InboundRefusal("Only an appointment has a location.")
    }

    package mutating func remind(_ minutes: [Int]) throws {
        throw InboundRefusal("A \(Self.resource.noun) has no reminders.")
    }

    package mutating func cancel() throws {
        throw InboundRefusal("A \(Self.resource.noun) cannot be cancelled.")
    }

    /// Returns the item's zone, or `zone`, the circle's.
    package func zone(or zone: TimeZoneReference) -> TimeZoneReference {
        timeZone.flatMap { TimeZoneReference($0) } ?? zone
    }

    func isSame(as other: any ItemContent) -> Bool { (other as? Self) == self }
}
