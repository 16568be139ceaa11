// SPDX-License-Identifier: Apache-2.0

/// What a run does about one item.
struct Step {
    /// A write that has no key yet.
    struct Draft {
        var kind: Operation.Kind
        var generation: Int
        var ours: Entry?
        var wanted: Entry?
        var reason: String
        var before: Entry?
        /// Whether a create replaces an event of an earlier generation, which is removed afterwards.
        var isReplacement = false
    }

    var item: ItemKey
    /// The link to store at once; nil when it does not change. With drafts, it is stored before they are sent.
    var link: Link?
    /// A change from the calendar to apply first; the step is then made again.
    var change: InboundChange?
    /// What both sides agree on once the change is applied.
    var basis: Agreement?
    var drafts: [Draft] = []
    var conflicts: [ConflictRecord] = []
    var seen: [EditSeen] = []
    /// The kind of journal line to write when the link changes without a write.
    var noted: JournalEntry.Change?
    /// What a preview shows to a person; nil when nothing happens.
    var preview: PreviewItem?
    /// What a person did in the calendar to an event that is not merged; its link is given up.
    var handedOver: EventTakenByPerson.Kind?
    /// Whether the event was found to be gone.
    var isMissing = false
    /// Whether the event is held back.
    var isFailure = false
    /// What the calendar cannot keep of the item, and the item's title.
    var lost: [Limitation] = []
    /// The fields of what an earlier write could not write.
    var unwritten: [EntryField] = []
    var title = ""

    var isDeletion: Bool {
        drafts.contains { if case .delete = $0.kind { true } else { false } }
    }
}

/// One line of a preview, and of what a run did.
public struct PreviewItem: Hashable, Sendable {
    public enum Change: String, Hashable, Sendable, CaseIterable { case create, update, delete, ignore, conflict }

    public var item: ItemKey
    public var change: Change
    public var direction: Link.Direction
    public var fields: [EntryField]
}
