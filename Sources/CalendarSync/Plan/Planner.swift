// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Decides what a run does, from what is stored, what should be shown, and what was seen. It reads and writes nothing.
struct Planner {
    var policy: SyncPolicy
    var now: Instant
    var links: [ItemKey: Link]
    /// What the calendar should show; of a series that the provider cannot express, its occurrences.
    var shown: [ItemKey: Ours]
    /// The series that the provider cannot express.
    var split: [ItemKey: SplitSeries] = [:]
    /// The original starts of the occurrences that have links of their own, by their series.
    let linkedParts: [ItemKey: [Instant]]
    /// How many single events the series are shown as.
    var partCount = 0
    var deleted: Set<ItemKey>
    var sightings: Observations
    /// The open conflicts of each item.
    var conflicts: [ItemKey: [ConflictRecord]]
    /// The numbers of deletions in the 24 hours before this run.
    var deletionsBefore: DeletionCount
    /// Whether no run of this connection has ended yet.
    var isFirst: Bool
    /// Whether this listing cannot be compared with the last one; nothing is then deleted in this run.
    var isNewBaseline: Bool
    /// Returns an entry as the provider can express it.
    var express: @Sendable (Entry) -> (entry: Entry, limitations: [Limitation])
    /// Our events whose id is not known, by item; `matchMarks` finds them among the sightings.
    var candidates: [ItemKey: [Observations.Observation]] = [:]
    /// Events with marks of connections that are lost or ended, which another connection has taken over.
    var eventsOfOthers: Set<ByteString> = []
    /// Items whose event was in another calendar, and for which this calendar may hold an event from an earlier time.
    var detached: Set<ItemKey> = []
    /// The number of linked events that are gone while another event has their mark: a person's copy, or the same event in
    /// a calendar that was moved to another server.
    private(set) var twins = 0
    /// The events of ours that no link accounts for, by the whole item.
    var strays: [ItemKey: Set<ItemKey>] = [:]
    /// Items that refused the times from the calendar: their own times are put back.
    var refusals: Set<ItemKey> = []

    init(
        policy: SyncPolicy, now: Instant, state: SyncState, desired: Desired, isNewBaseline: Bool,
        express: @escaping @Sendable (Entry) -> (entry: Entry, limitations: [Limitation])
    ) {
        self.policy = policy
        self.now = now
        self.links = Dictionary(state.links.map { ($0.item, $0) }, uniquingKeysWith: { $1 })
        self.shown = [:]
        self.linkedParts = Dictionary(grouping: state.links.map(\.item).filter { $0.occurrence != nil }, by: \.whole)
            .mapValues { $0.compactMap(\.occurrence) }
        self.deleted = desired.deleted
        self.sightings = Observations()
        self.conflicts = Dictionary(grouping: state.conflicts, by: \.item)
        self.deletionsBefore = state.deletions
        self.isFirst = state.position == nil
        self.isNewBaseline = isNewBaseline
        self.express = express
        guard !policy.isRemoval else { return }
        for ours in desired.items { show(ours) }
    }

    /// All items that are linked or to be shown, sorted; also those that only a mark names if they are another form of
    /// an item that is shown or this connection's own, and in a last run all of them.
    var items: [ItemKey] {
        let known = Set(links.keys).union(shown.keys).union(split.keys)
        let strays = strays.values.reduce(into: Set<ItemKey>()) { $0.formUnion($1) }
        let marked = candidates.keys.filter { policy.isRemoval || isShownOtherwise($0) || strays.contains($0) }
        return known.union(marked).sorted()
    }

    /// Returns the whole plan.
    func plan() -> Plan { Plan(steps: items.compactMap(step), planner: self) }

    /// Links by the id of their event.
    var linksByID: [ByteString: Link] {
        Dictionary(
            links.values.compactMap { link in link.externalID.map { (ByteString($0), link) } },
            uniquingKeysWith: { $1 })
    }
}

extension ItemKey: Comparable {
    public static func < (left: ItemKey, right: ItemKey) -> Bool {
        guard left.collection == right.collection else { return left.collection.rawValue < right.collection.rawValue }
        guard left.id == right.id else { return left.id < right.id }
        guard let other = right.occurrence else { return false }
        return left.occurrence.map { $0 < other } ?? true
    }
}

// MARK: Marks

extension Planner {
    /// Finds out which events without a recorded id are ours, and counts those that cannot be accounted for.
    ///
    /// The event with the recorded id is ours; any other event with the same mark is a copy by someone else.
    mutating func matchMarks() {
        let recorded = Set(links.values.compactMap { $0.externalID.map(ByteString.init(_:)) })
        twins = countedTwins
        let hasMoved = hasMoved
        let leftovers = Set(links.values.flatMap { $0.leftovers.map { ByteString($0.id) } })
        func isUnaccounted(_ id: ByteString) -> Bool {
            !recorded.contains(id) && !leftovers.contains(id) && !eventsOfOthers.contains(id)
        }
        candidates = [:]
        strays = [:]
        var unaccounted = 0
        for (id, sight) in sightings.events where isUnaccounted(id) {
            guard let mark = sight.mark, policy.owns(mark) else { continue }
            guard let link = links[mark.item] else {
                candidates[mark.item, default: []].append(sight)
                if mark.connection == policy.connection {
                    unaccounted += 1
                    strays[mark.item.whole, default: []].insert(mark.item)
                }
                continue
            }
            let isDetached = detached.contains(mark.item) && link.externalID == nil
            if isDetached || hasMoved && mark.generation == link.generation
                || link.accepts(mark, id: sight.id, of: policy.connection)
            {
                candidates[mark.item, default: []].append(sight)
            }
            if !isDetached, mark.connection == policy.connection, mark.generation > link.generation {
                unaccounted += 1
                strays[mark.item.whole, default: []].insert(mark.item)
            }
        }
        for (item, sights) in candidates where sights.count > 1 { candidates[item] = inOrder(sights, of: item) }
        // Before the first run has ended, or when everything was lost, all events are found again by their marks.
        sightings.count(unaccounted: isFirst ? 0 : unaccounted)
    }

    /// The items whose events no recorded id names, and which a connection made that is lost or has ended.
    var itemsOfLost: Set<ItemKey> {
        guard !policy.otherConnections.isEmpty else { return [] }
        let recorded = Set(links.values.compactMap { $0.externalID.map(ByteString.init(_:)) })
        return Set(
            sightings.events.compactMap { id, sight in
                guard let mark = sight.mark, policy.owns(mark), mark.connection != policy.connection,
                    !recorded.contains(id)
                else { return nil }
                return mark.item
            })
    }

    /// Returns events with the mark of one item, the one first that is most likely its own: of the latest generation, and
    /// most like what both sides agreed on. A copy that a person made is otherwise told by nothing where its id is unknown.
    private func inOrder(_ sights: [Observations.Observation], of item: ItemKey) -> [Observations.Observation] {
        let known = links[item]?.agreed?.theirs.canonical ?? shown[item].map { express($0.entry).entry.canonical }
        let weighed = sights.map { sight in
            (sight, sight.mark?.generation ?? 0, known.flatMap { sight.entry?.likeness(to: $0) } ?? 0)
        }
        return weighed.sorted { left, right in
            guard left.1 == right.1 else { return left.1 > right.1 }
            return left.2 == right.2 ? left.0.id < right.0.id : left.2 > right.2
        }.map(\.0)
    }

    /// Whether most events do not have the id that is recorded for them: the calendar was moved to another server, and its
    /// events got new ids. If it is only one event, a person may have copied and deleted it.
    ///
    /// Some events may have their new ids already, from a run that did not finish.
    var hasMoved: Bool { sightings.isFull && twins > 1 && twins > knownIDs.count { sightings.events[$0] != nil } }

    /// How many of the items that would be written first another connection of the circle already has in the calendar; 0 once
    /// something was written, and where a person has said that the calendar is shared.
    ///
    /// One calendar may have different ids for different people, so that only its events show that it is one.
    var itemsOfOthers: Int {
        guard !policy.sharesIt, !links.values.contains(where: { $0.externalID != nil || $0.lastID != nil })
        else { return 0 }
        let items = sightings.events.values.compactMap { sight -> ItemKey? in
            guard let mark = sight.mark, mark.installation == policy.installation, mark.circle == policy.circle,
                policy.otherConnections.contains(mark.connection) || eventsOfOthers.contains(ByteString(sight.id))
            else { return nil }
            return mark.item.whole
        }
        return Set(items).count { shown[$0] != nil || split[$0] != nil }
    }

    /// Links to events that are gone, as long as those and not the others may be all that is left of a calendar that was
    /// moved; empty otherwise.
    var gone: [Link] {
        let gone = links.values.filter { $0.state != .untracked && isGone($0) }
        let present = knownIDs.count { sightings.events[$0] != nil }
        return gone.count > max(1, present) ? gone : []
    }

    private func isGone(_ link: Link) -> Bool {
        link.externalID.map { sightings.gone.contains(ByteString($0)) } ?? false
    }

    private var knownIDs: [ByteString] {
        links.values.filter { $0.state != .untracked }.compactMap { $0.externalID.map(ByteString.init(_:)) }
    }

    /// The events for which neither a listing nor a look has shown whether they are there, sorted.
    var unseenIDs: [String] {
        knownIDs.filter { sightings.events[$0] == nil && !sightings.gone.contains($0) }.map(\.string).sorted()
    }

    private var countedTwins: Int {
        guard sightings.isFull, !sightings.gone.isEmpty else { return 0 }
        var items: Set<ItemKey> = []
        for sight in sightings.events.values {
            guard let mark = sight.mark, policy.owns(mark), let link = links[mark.item], isGone(link),
                link.generation == mark.generation, !eventsOfOthers.contains(ByteString(sight.id))
            else { continue }
            items.insert(mark.item)
        }
        return items.count
    }
}

extension SyncPolicy {
    /// Reports whether an event with this mark was created for this connection, or for one that no longer exists.
    func owns(_ mark: EventMark) -> Bool {
        guard mark.installation == installation, mark.circle == circle else { return false }
        if mark.connection == connection || formerConnections.contains(mark.connection) { return true }
        // Nobody asked to remove the events that an unknown connection made.
        return !isRemoval && !otherConnections.contains(mark.connection)
    }
}

extension Link {
    /// Reports whether an event with this mark may be the link's although the link does not have its id.
    fileprivate func accepts(_ mark: EventMark, id: String, of connection: String) -> Bool {
        guard mark.connection == connection else {
            // An event that was adopted keeps the mark of the connection that made it, also when it comes out of the bin.
            guard externalID == nil, let lastID else { return externalID == nil && agreed == nil }
            return mark.generation == generation && lastID == id
        }
        if mark.generation > generation { return true }
        guard externalID == nil else { return false }
        return mark.generation == generation && (lastID == nil || lastID == id)
    }
}
