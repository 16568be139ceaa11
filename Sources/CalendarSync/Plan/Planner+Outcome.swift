// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension Planner {
    /// Makes a step from the result of a merge.
    func step(
        _ merged: Merged, link: Link, ours: Ours?, sight: Observations.Observation?, here: ThreeStates.LocalState,
        there: ThreeStates.RemoteState
    ) -> Step? {
        var step = Step(item: link.item)
        step.conflicts = records(merged, link: link, sight: sight, here: here, there: there)
        step.seen = merged.seen
        step.isMissing = isNewlyMissing(link, there)
        if let ours, !merged.incoming.isEmpty {
            step.change = InboundChange(
                item: link.item, revision: ours.revision,
                edits: merged.incoming.map { $0.keepingZone(of: ours.entry, expressed: here.entry) },
                reason: "moved in the calendar")
            step.basis = merged.basis
        }
        var kept = link
        (kept.reason, kept.problem) = (nil, nil)
        kept.refused = nil
        switch merged.action {
        case .agree(let agreement): agree(&step, kept, agreement, sight: sight, ours: here.entry)
        case .create(let entry, let again): create(&step, kept, entry, again: again, there: there)
        case .update(let wanted, let reason):
            guard let theirs = sight?.entry ?? link.agreed?.theirs, let id = kept.externalID else { return nil }
            kept.state = .pending
            step.drafts = [
                Step.Draft(
                    kind: .update(id: id, etag: sight?.etag ?? (sight == nil ? link.etag : nil), from: theirs),
                    generation: link.generation, ours: here.entry, wanted: wanted, reason: reason.rawValue,
                    before: theirs)
            ]
            step.link = kept
        case .delete where keepsForGuests(link, sight):
            kept.hold(.guests, Self.guestsReason)
            kept.note(guests: sight?.hasGuests)
            kept.etag = sight?.etag ?? kept.etag
            if link.problem != .guests { kept.since = now }
            step.conflicts = []
            step.link = kept == link ? nil : kept
            step.isFailure = true
        case .delete(let reason): delete(&step, kept, reason, sight: sight, there: there)
        case .stayAway:
            step.noted = .missing
            kept.away()
            kept.state = link.item.collection == .appointments ? .conflict : .ignored
            kept.since = now
            step.link = link.state == kept.state && link.externalID == nil ? nil : kept
            if step.link == nil { step.noted = nil }
        case .forget: forget(&step, kept)
        case .wait:
            kept.state = .conflict
            if link.state != .conflict { kept.since = now }
            if let sight { kept.etag = sight.etag }
            step.link = kept
        case .holdBack(let reason):
            kept.hold(.unreadable, reason)
            kept.refused = here.entry
            kept.etag = sight?.etag
            kept.since = now
            step.link = kept == link ? nil : kept
            step.isFailure = true
        }
        finish(&step, merged, link: link)
        return step
    }

    // MARK: One function for each action

    private func agree(
        _ step: inout Step, _ link: Link, _ agreement: Agreement, sight: Observations.Observation?, ours: Entry?
    ) {
        var kept = link
        kept.agreed = agreement
        // The unwritten fields count only while both sides are as they were then.
        if agreement != link.agreed { kept.unwritten = nil }
        if let sight {
            kept.etag = sight.etag
            kept.stamp = sight.updatedAt
            kept.note(guests: sight.hasGuests)
        }
        let isFar =
            mayForgetFar(sight) && !agreement.ours.overlaps(policy.window) && !agreement.theirs.overlaps(policy.window)
        kept.state = isFar && kept.leftovers.isEmpty && step.change == nil ? .untracked : .linked
        step.drafts += clearing(kept)
        let stored = links[link.item]
        if let stored, kept.differs(from: stored) || !step.seen.isEmpty {
            kept.lastSyncedAt = now
            if stored.state != kept.state { kept.since = now }
            kept.add(step.seen, at: now)
        } else if stored == nil {
            kept.lastSyncedAt = now
        }
        if stored?.externalID != kept.externalID { step.noted = .adopt }
        if stored != kept { step.link = kept }
    }

    /// Whether an event outside of the window may be forgotten: after a listing that broke off, events that were not seen
    /// may have other ids, and each of them helps to find that out.
    private func mayForgetFar(_ sight: Observations.Observation?) -> Bool {
        sight != nil || !isNewBaseline || sightings.isFull
    }

    /// Returns the removal of events of earlier generations, for when the current one exists.
    private func clearing(_ link: Link) -> [Step.Draft] {
        link.leftovers.map { leftover in
            Step.Draft(
                kind: .clear(leftover), generation: leftover.generation, ours: nil, wanted: nil, reason: "made again",
                before: nil)
        }
    }

    private func create(
        _ step: inout Step, _ link: Link, _ entry: Entry, again: Bool, there: ThreeStates.RemoteState
    ) {
        var kept = link
        guard entry.overlaps(policy.window) else {
            guard link.externalID != nil else { return }
            // The event is gone, and is created again when its item is in the window.
            kept.away()
            kept.state = .ignored
            kept.since = now
            step.link = kept
            return
        }
        if again {
            if link.externalID != nil { kept.away() }
            kept.generation += 1
            kept.lastID = nil
            step.conflicts += settled(link.item, .kalends)
        }
        kept.agreed = nil
        kept.state = .pending
        kept.since = now
        step.link = kept
        step.drafts = [
            Step.Draft(
                kind: .create, generation: kept.generation, ours: entry, wanted: entry,
                reason: again ? Merged.Reason.editBeatsDeletion.rawValue : Merged.Reason.new.rawValue, before: nil,
                isReplacement: !kept.leftovers.isEmpty)
        ]
    }

    private func delete(
        _ step: inout Step, _ link: Link, _ reason: Merged.Reason, sight: Observations.Observation?,
        there: ThreeStates.RemoteState
    ) {
        var kept = link
        let theirs = sight?.entry ?? link.agreed?.theirs
        let isFar: Bool =
            switch policy.purpose {
            case .sync: theirs.map { !$0.overlaps(policy.window) } ?? false
            case .removal(let from):
                from.map { from in
                    theirs.map { !$0.overlaps(TimeRange(from: from, to: Instant(seconds: .max / 2))) } ?? false
                } ?? false
            }
        if isFar, policy.isRemoval || mayForgetFar(sight) {
            // The event left the window, and is not touched.
            kept.state = .untracked
            kept.since = now
            step.conflicts = []
            step.link = link.state == .untracked ? nil : kept
            return
        }
        guard !isNewBaseline || policy.purpose != .sync, let id = kept.externalID else {
            // A run without a comparable listing deletes nothing: the next run looks at the event again.
            step.conflicts = []
            kept.state = .pending
            step.link = kept
            return
        }
        kept.state = .pending
        step.conflicts += settled(link.item, .dismissed)
        step.link = kept
        step.drafts = [
            Step.Draft(
                kind: .delete(id: id, etag: sight == nil ? link.etag : sight?.etag), generation: link.generation,
                ours: nil, wanted: nil, reason: reason.rawValue, before: theirs)
        ]
        // No run follows the last one.
        if policy.isRemoval { step.drafts += clearing(kept) }
    }

    private func forget(_ step: inout Step, _ link: Link) {
        step.drafts += clearing(link)
        guard link.state != .deleted || link.externalID != nil else { return }
        var kept = link
        kept.away()
        kept.agreed = nil
        kept.state = .deleted
        kept.since = now
        kept.lastSyncedAt = now
        step.conflicts += settled(link.item, .dismissed)
        step.link = kept
        if step.isMissing { step.noted = .missing }
    }

    // MARK: What a person sees

    private func isNewlyMissing(_ link: Link, _ there: ThreeStates.RemoteState) -> Bool {
        guard case .gone = there else { return false }
        return link.externalID != nil
    }

    private func finish(_ step: inout Step, _ merged: Merged, link: Link) {
        let item = link.item
        if let draft = step.drafts.first(where: { !$0.isClearing }) {
            let change: PreviewItem.Change =
                switch draft.kind {
                case .create: draft.isReplacement ? .update : .create
                case .update: .update
                case .delete, .clear: isShownOtherwise(item) ? .update : .delete
                }
            step.preview = PreviewItem(item: item, change: change, direction: .out, fields: merged.fields)
        }
        if step.change != nil {
            step.preview = PreviewItem(item: item, change: .update, direction: .in, fields: merged.fields)
        }
        if step.conflicts.contains(where: { $0.state == .open }) {
            let fields = step.conflicts.flatMap { $0.fields.map(\.field) }
            step.preview = PreviewItem(
                item: item, change: .conflict, direction: step.change == nil ? .out : .in,
                fields: EntryField.allCases.filter(fields.contains))
        } else if step.noted == .missing {
            step.preview = PreviewItem(item: item, change: .ignore, direction: .in, fields: [.existence])
        }
    }

    // MARK: Conflicts

    private func records(
        _ merged: Merged, link: Link, sight: Observations.Observation?, here: ThreeStates.LocalState,
        there: ThreeStates.RemoteState
    ) -> [ConflictRecord] {
        var theirs: Entry?
        if case .present(let entry) = there { theirs = entry }
        let known = conflicts[link.item] ?? []
        let settled = followed(link.item, by: sight)
        let open = known.map { record in settled.first { $0.id == record.id } ?? record }
        let found = merged.findings.compactMap { finding -> ConflictRecord? in
            let starts = finding.occurrences
            let known =
                finding.kind == .deletedThere && !starts.isEmpty
                ? open.first { $0.kind == .deletedThere && $0.occurrence != nil && $0.state == .open } : nil
            let ours = here.entry ?? link.agreed?.ours
            if let known { return known.extended(by: finding, ours: ours, theirs: theirs) }
            let id = finding.identity(link, connection: policy.connection)
            guard !open.contains(where: { $0.id == id }) else { return nil }
            return ConflictRecord(
                id: id, item: link.item, occurrence: starts.first, occurrences: starts.count > 1 ? starts : nil,
                at: now, kind: finding.kind, fields: finding.fieldsOfRecord, ours: ours?.about(starts),
                theirs: theirs?.about(starts), state: finding.isOpen ? .open : .resolved,
                outcome: finding.isOpen ? nil : .kalends, resolvedAt: finding.isOpen ? nil : now)
        }
        return settled.filter { one in !found.contains { $0.id == one.id } } + found
    }

    /// Returns an item's open conflicts that its event settles, wholly or in part. An event that was not looked at is only
    /// what both sides agreed on before, and settles nothing.
    func followed(_ item: ItemKey, by sight: Observations.Observation?) -> [ConflictRecord] {
        guard let sight else { return [] }
        return conflicts[item]?.compactMap { $0.followed(by: sight.there, at: now) } ?? []
    }

    /// Returns an item's open conflicts, settled by what has happened since, if that settles them.
    private func settled(_ item: ItemKey, _ outcome: ConflictRecord.Outcome) -> [ConflictRecord] {
        conflicts[item]?.compactMap { $0.settled(outcome, at: now) } ?? []
    }
}

extension InboundChange.Edit {
    /// Returns the change with the zone that the item keeps or takes, so that a plan sees the item as it will be.
    ///
    /// UTC, in which some programs write any time, is not a request for another zone; neither is a zone that this
    /// machine does not know, nor the provider's name for the item's own zone. An occurrence uses the zone of its
    /// series.
    fileprivate func keepingZone(of ours: Entry, expressed: Entry?) -> InboundChange.Edit {
        guard case .timed(_, _, let own) = ours.span else { return self }
        func zone(_ name: String) -> String {
            if case .timed(_, _, let known)? = expressed?.span, name == known { return own }
            if ["UTC", "Etc/UTC", "GMT"].contains(where: { $0 == name }) { return own }
            return TimeZoneReference(name)?.identifier ?? own
        }
        switch self {
        case .times(.timed(let start, let end, let name)):
            return .times(.timed(start: start, end: end, zone: zone(name)))
        case .occurrenceTimes(let original, .timed(let start, let end, _)):
            return .occurrenceTimes(original, .timed(start: start, end: end, zone: own))
        default: return self
        }
    }
}

extension Step.Draft {
    var isClearing: Bool { if case .clear = kind { true } else { false } }
}

extension Finding {
    /// Returns a digest of what was found since the sides last agreed.
    func identity(_ link: Link, connection: String) -> String {
        let values = fields.map { field in
            [field.field.rawValue, field.base ?? "", field.kalends ?? "", field.calendar ?? "", field.kept.rawValue]
                .joined(separator: "\u{1F}")
        }
        let parts: [String] = [
            connection, link.item.collection.rawValue, link.item.id, link.item.occurrence?.description ?? "",
            occurrences.map(\.description).joined(separator: ","), kind.rawValue, String(link.generation),
            link.lastSyncedAt?.description ?? "",
        ]
        return Digest.text((parts + values).joined(separator: "\u{1E}"))
    }

    /// The fields as a record has them: a single occurrence is not named again by its fields, and of several only a
    /// limited number is listed.
    fileprivate var fieldsOfRecord: [ConflictRecord.Field] {
        guard occurrences.count == 1 else { return fields.shortened }
        return fields.map { field in
            var field = field
            field.occurrence = nil
            return field
        }
    }
}

extension ConflictRecord {
    /// Returns this record, settled by what has happened since; nil when that does not settle it.
    func settled(_ outcome: Outcome, at now: Instant) -> ConflictRecord? {
        state == .open && occurrence == nil && kind != .bothChanged ? closed(outcome, at: now) : nil
    }

    /// Returns this record after what is in the calendar now, if that settles it or a part of it; nil otherwise. For a
    /// deletion, occurrences that take place again there are settled.
    fileprivate func followed(by there: ThreeStates.RemoteState, at now: Instant) -> ConflictRecord? {
        switch (kind, there) {
        case (.unreadable, .present): settled(.calendar, at: now)
        case (.deletedThere, .present(let theirs)):
            without(back(in: theirs.canonical), at: now)
        // It is there again, and nothing else is known about it.
        case (.deletedThere, .unreadable) where starts.isEmpty: closed(.kalends, at: now)
        default: nil
        }
    }

    /// Returns the occurrences concerned that take place in a canonical entry.
    private func back(in entry: Entry) -> [Instant] { starts.filter { entry.effective(at: $0) != nil } }

    /// Returns this record of deleted occurrences with those that were deleted since, so that a series has one; nil if
    /// it has them all.
    fileprivate func extended(by finding: Finding, ours: Entry?, theirs: Entry?) -> ConflictRecord? {
        let known = Set(starts)
        let new = finding.occurrences.filter { !known.contains($0) }
        guard !new.isEmpty, let occurrence else { return nil }
        var record = self
        let all = known.union(new).sorted()
        (record.occurrence, record.occurrences) = (all.first, all)
        record.fields =
            (fields.map { field in
                var field = field
                field.occurrence = field.occurrence ?? occurrence
                return field
            } + finding.fields.filter { $0.occurrence.map { !known.contains($0) } ?? false }).shortened
        (record.ours, record.theirs) = (ours?.about(all), theirs?.about(all))
        return record
    }
}
