// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// What an item of one kind holds. The type describes its kind: whoever reads, shows, stores, documents or syncs items
/// asks it, and a kind is there once it is one of `ItemKinds`.
package protocol ItemContent: StoredInParts {
    // MARK: The kind

    /// Its items, as paths and rows have it: `follow-ups`.
    static var collection: ScheduleItem.Collection { get }
    /// What schemas and operations call it: `FollowUp`.
    static var name: String { get }
    /// One item, as sentences call it and problems name it where there is none.
    static var resource: Refusal.Resource { get }
    /// A request that makes an item.
    static var example: JSONValue { get }
    /// What the document says of a request beside its fields.
    static var inputNote: String? { get }
    /// Which names stand in its titles, so that another name is another revision.
    static var namesInTitles: Set<NameInTitle> { get }
    /// Whether calendars show its owner as busy, and nobody else.
    static var isOwnersTime: Bool { get }

    // MARK: The item

    /// Its own zone, nil for the circle's.
    var timeZone: String? { get set }
    var patientID: String? { get }
    /// Whose it is; nil for nobody's, and for a kind that has no owners.
    var ownerID: String? { get }
    var notes: String? { get set }
    /// The word of its status; nil for a kind without one.
    var statusWord: String? { get }
    var isCompleted: Bool { get }
    /// Whether it does not take place, so that no calendar that is kept in step shows it.
    var isCancelled: Bool { get }

    /// What people call it, without what calendars put before.
    func title(_ names: CircleNames) -> String

    /// What calendars show of it, with the names that its title needs, for times on the clock of `zone`.
    func careItem(_ names: CircleNames, in zone: TimeZoneReference) -> CareItem

    // MARK: Edits in a calendar that is kept in step; `InboundRefusal` says why one cannot be taken over.

    mutating func move(to span: CareItem.Span) throws
    /// - Parameter title: without what stands before every title of the kind.
    mutating func rename(_ title: String, _ names: CircleNames) throws
    mutating func place(_ location: String?) throws
    mutating func remind(_ minutes: [Int]) throws
    mutating func cancel() throws
}

/// A name that titles of some kinds have in them.
package enum NameInTitle: Sendable {
    case patient, owner
}

extension ItemContent {
    package static var inputNote: String? { nil }
    package static var namesInTitles: Set<NameInTitle> { [] }
    package static var isOwnersTime: Bool { false }

    /// Several of it, in names of settings and operations: `FollowUps`.
    package static var plural: String { name + "s" }
    /// Whether feeds show it: `includeFollowUps`.
    package static var feedSetting: String { "include" + plural }
    /// Whether connected calendars show it: `syncFollowUps`.
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
        throw InboundRefusal("Only a task or an appointment can be cancelled.")
    }

    /// The zone on whose clock it is; `zone` is the circle's.
    package func zone(or zone: TimeZoneReference) -> TimeZoneReference {
        timeZone.flatMap { TimeZoneReference($0) } ?? zone
    }

    func isSame(as other: any ItemContent) -> Bool { (other as? Self) == self }
}
