// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What a run does about one item.
struct Step {
    /// A write, before it has a key.
    struct Draft {
        var kind: Operation.Kind
        var generation: Int
        var ours: Entry?
        var wanted: Entry?
        var reason: String
        var before: Entry?
        /// A create: whether an earlier generation is there, and goes afterwards.
        var isReplacement = false
    }

    var item: ItemKey
    /// What the link becomes at once; nil when it stays as it is. With drafts it is stored before they are sent.
    var link: Link?
    /// A change that comes in first; the step is then made again.
    var change: InboundChange?
    /// What both sides agree on once the change came in.
    var basis: Agreement?
    var drafts: [Draft] = []
    var conflicts: [ConflictRecord] = []
    var seen: [EditSeen] = []
    /// A line of the journal, when the link changes without a write.
    var noted: JournalEntry.Change?
    /// What a person sees in a preview; nil when nothing happens.
    var preview: PreviewItem?
    /// What a person did there to an event that nobody merges; the link is let go of with it.
    var handedOver: HandOver.Kind?
    /// Whether the event was found to be gone.
    var isMissing = false
    /// Whether the event is held back.
    var isFailure = false

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

    public init(item: ItemKey, change: Change, direction: Link.Direction, fields: [EntryField]) {
        self.item = item
        self.change = change
        self.direction = direction
        self.fields = fields
    }
}
