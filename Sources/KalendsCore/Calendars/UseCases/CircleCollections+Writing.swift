// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import ICalBridge
import Storage

extension CircleCollections {
    /// The maximum number of bytes that one person keeps for one resource.
    private static let mostPersonal = 64 << 10
    /// The longest UID that is kept, in bytes.
    private static let longestUID = 255
    /// How often a write starts over when others change the same item at the same time.
    private static let attempts = 4

    /// The item was changed after its change was worked out.
    struct ChangedMeanwhile: Error {
        /// Whether a part of the change was written before.
        var isBegun = false
    }

    package func put(
        _ text: [UInt8], as name: String, in collection: CalendarCollection, if conditions: WriteConditions,
        for caller: CalDAVCaller, room: MemoryShare?
    ) async throws -> PutOutcome {
        let place = try collection.place
        guard caller.mayWrite, collection.mayWrite else { throw CollectionFault.needsPrivileges }
        let most = CalendarCollection.maxResourceSize
        guard text.count <= most else { throw CollectionFault.tooLarge(most) }
        let sent = try await read(text, in: place, for: caller)
        guard (sent.task != nil) == (place.list == .tasks) else { throw CollectionFault.unsupportedComponent }
        return try await repeatedly { isBegun in
            let state = try await look(at: name, of: collection, comingBack: sent.uid, room: room)
            guard isBegun || conditions.allow(state.found?.shown.etag.text) else {
                throw CollectionFault.preconditionFailed
            }
            switch state.found {
            case .item(let seen, _, let parts):
                guard sent.uid.isSameText(as: seen.item.uid) else {
                    throw CollectionFault.uidConflict(segment: place.segment, name: name)
                }
                if let reason = sent.unread { throw CollectionFault.invalidData(Sentence(ofOthers: reason)) }
                return try await change(seen, parts, state, as: sent, text, for: caller)
            case .imported(let series, let shown):
                guard state.owns(series) else { throw CollectionFault.needsPrivileges }
                guard sent.uid.isSameText(as: shown.uid) else {
                    throw CollectionFault.uidConflict(segment: place.segment, name: name)
                }
                return try await change(series, shown, state.look, as: sent, text, for: caller)
            case nil:
                if let removed = state.removed, (removed.shown.component == .task) == (place.list == .tasks) {
                    return try await change(
                        removed.series, removed.shown, state.look, as: sent, text, isGone: true, for: caller)
                }
                return try await make(sent, text, name, place, state, for: caller)
            }
        }
    }

    package func delete(
        _ name: String, from collection: CalendarCollection, if conditions: WriteConditions, for caller: CalDAVCaller,
        room: MemoryShare?
    ) async throws {
        let place = try collection.place
        guard caller.mayWrite, collection.mayWrite else { throw CollectionFault.needsPrivileges }
        try await repeatedly { _ in
            let state = try await look(at: name, of: collection, room: room)
            guard let found = state.found else {
                throw conditions.allow(nil) ? CollectionFault.missing : .preconditionFailed
            }
            guard conditions.allow(found.shown.etag.text) else { throw CollectionFault.preconditionFailed }
            guard case .item(let seen, _, _) = found else {
                guard case .imported(let series, _) = found, state.owns(series) else {
                    throw CollectionFault.needsPrivileges
                }
                return try await remove(series, state.look, for: caller)
            }
            try await acts.schedule(in: place.circle, for: caller.caller, settings.quotas) {
                writer in
                let item = try writer.transaction.item(seen.item.id, seen.item.collection, in: place.circle)
                guard item == seen.item else { throw ChangedMeanwhile() }
                _ = try writer.delete(seen.item.id, seen.item.collection)
            }
        }
    }

    /// Begins again while others change the item, and says what went wrong as calendar apps understand it.
    ///
    /// - Parameter body: is called with whether a part of the change was written: it is not a reason to refuse the rest.
    private func repeatedly<Value>(_ body: (Bool) async throws -> Value) async throws -> Value {
        var isBegun = false
        for attempt in 1... {
            do {
                return try await body(isBegun)
            } catch let change as ChangedMeanwhile where attempt < Self.attempts {
                isBegun = isBegun || change.isBegun
            } catch is ChangedMeanwhile {
                throw CollectionFault.preconditionFailed
            } catch let refusal as InboundRefusal {
                throw CollectionFault.invalidData(Sentence(ofOthers: refusal.sentence))
            } catch let refusal as Refusal {
                switch refusal.kind {
                case .missing: throw CollectionFault.missing
                case .forbidden: throw CollectionFault.needsPrivileges
                case .invalid:
                    throw CollectionFault.invalidData(
                        Sentence(ofOthers: refusal.faults.first?.message ?? refusal.detail))
                case .conflict where refusal.code == .limitReached:
                    throw CollectionFault.insufficientStorage(Sentence(ofOthers: refusal.detail))
                default: throw refusal
                }
            }
        }
        throw CollectionFault.preconditionFailed
    }

    /// Reads what an app sent.
    private func read(
        _ text: [UInt8], in place: CircleSegment, for caller: CalDAVCaller
    ) async throws -> ClientResource {
        let circle = place.circle
        guard let zone = try await store.read({ try $0.circle(circle)?.timeZone }) else {
            throw CollectionFault.missing
        }
        let sent = try await ForeignAnswers.inTurn(of: ByteString(caller.userID), bytes: text.count) {
            ClientResource(text, floatingZone: zone)
        }
        switch sent.fault {
        case .data(let sentence): throw CollectionFault.invalidData(sentence)
        case .object(let sentence): throw CollectionFault.invalidObject(sentence)
        case .component: throw CollectionFault.unsupportedComponent
        case nil: return sent
        }
    }

    // MARK: What is there

    /// The resource that a name means, with the state on which a change of it depends.
    private struct State: Sendable {
        let found: CircleReader.Found?
        let look: PersonalLook
        let role: Member.Role
        let patients: [Patient]
        /// The item of the list that had the UID until it was deleted.
        var former: ScheduleItem?
        /// The imported event that had the name until the person removed it with an app.
        var removed: (series: ImportedSeries, shown: ShownResource)?

        /// Whether the person brought in all components of a series.
        func owns(_ series: ImportedSeries) -> Bool {
            series.events.allSatisfy { event in
                !event.record.source.isSubscription
                    && event.record.importedBy.map { $0.isSameText(as: look.userID) } ?? false
            }
        }
    }

    /// - Parameter uid: what an app puts at the name, if it does.
    private func look(
        at name: String, of collection: CalendarCollection, comingBack uid: String? = nil, room: MemoryShare?
    ) async throws -> State {
        let list = try collection.place.list
        let look: @Sendable (CircleReader, () throws -> CircleIndex) throws -> State = { reader, index in
            var state = State(
                found: try reader.find([name], in: list, index, room: room) { $1 }.first ?? nil, look: reader.look,
                role: reader.member.role,
                patients: try reader.transaction.patientsEverKnown(in: reader.circle.id).filter {
                    $0.removedAt == nil
                })
            guard state.found == nil, let uid else { return state }
            if ResourceNames.isImported(name) {
                state.removed = try reader.removedSeries(shownAs: uid, name: name)
            } else {
                state.former = try reader.transaction.itemsEverKnown(uids: [uid], in: reader.circle.id)
                    .filter { item in
                        guard item.deletedAt != nil, let kind = reader.look.kinds[item.collection] else { return false }
                        return ResourceName.List(kind) == list
                    }.max { ($0.deletedAt ?? 0) < ($1.deletedAt ?? 0) }
            }
            return state
        }
        return try await MemoryShare.waiting { try await read(collection, look) }
    }

    // MARK: Changing

    private func change(
        _ seen: SeenItem, _ parts: [PersonalParts], _ state: State, as sent: ClientResource, _ text: [UInt8],
        for caller: CalDAVCaller
    ) async throws -> PutOutcome {
        let look = state.look
        let plain = look.shown(seen, []).text
        let quotas = settings.quotas.clamped(to: caller.caller.identity)
        let edits = CircleEdits(
            seen: seen, look: look, mayManage: state.role == .owner, most: quotas.occurrencesPerItem)
        let plan = try edits.plan(sent, replacing: plain)
        let growth = try plan.check(seen, quotas)
        let steps = plan.parts
        let own = PersonalParts.own(sent.parts, beside: plain)
        let kept = try Self.part(own, of: seen.item.uid, look)
        let isOther = look.shown(seen, parts).text != text
        let first = try await act(in: look, for: caller) { transaction, writer in
            let (item, uid) = (seen.item, seen.item.uid)
            let ownNow = try transaction.personalParts([uid], of: look.userID, in: item.circleID)
            guard try item.isStored(in: transaction), PersonalPartsOfUIDs(ownNow)[uid] == parts else {
                throw ChangedMeanwhile()
            }
            try writer.expect(growth)
            try steps[0].write(of: item, with: &writer)
            // The app also hears about reverted changes: its text differs from the stored one.
            if own != parts || (isOther && !writer.hasChanged) { try writer.keep(kept) }
            return (item.id, item.collection)
        }
        let stored = try await write(steps.dropFirst(), after: first, for: caller)
        return PutOutcome(isNew: false, etag: try await etag(of: stored, own, text))
    }

    private func make(
        _ sent: ClientResource, _ text: [UInt8], _ name: String, _ place: CircleSegment, _ state: State,
        for caller: CalDAVCaller
    ) async throws -> PutOutcome {
        guard (1...255).contains(name.utf8.count) else { throw CollectionFault.preconditionFailed }
        let look = state.look
        let fresh = FeedLedger.makeID()
        let quotas = settings.quotas.clamped(to: caller.caller.identity)
        let (base, plan) = try former(state, as: sent, quotas) ?? new(fresh, state, as: sent, quotas)
        var draft = ItemDraft(try look.kinds.content(of: base.item), in: look.zone)
        var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
        draft.follow(in: look.zone, changed: [], budget: &budget)
        guard draft.faults.isEmpty else { throw Refusal.invalid(draft.faults) }
        let growth = try plan.check(base, quotas)
        let steps = plan.parts
        // Compared with an item without alarms and categories: all of them are the person's own.
        let own = PersonalParts.own(sent.parts, beside: look.shown(base, []).text)
        let (collection, list) = (base.item.collection, place.list)
        let former = state.former.flatMap { $0.collection == collection ? $0 : nil }
        let first = try await act(in: look, for: caller) { [draft] transaction, writer in
            let reader = try CircleReader(place.circle, for: caller.userID, settings, in: transaction)
            // Another app may have taken the name by now; no app gives the names that imported events have.
            if !ResourceNames.isImported(name),
                case .some(.some) = try reader.find([name], in: list, { throw ChangedMeanwhile() }, { $1 }).first
            {
                throw ChangedMeanwhile()
            }
            let known = try transaction.itemsEverKnown(uid: sent.uid, for: caller.userID)
            let hasImported = try refuse(sent.uid, known.filter { $0.deletedAt == nil }, place, for: caller, reader)
            let before = known.first { $0.circleID.isSameText(as: place.circle) }
            guard former == nil || former == before else { throw ChangedMeanwhile() }
            // A deleted item comes back under its id, so that its SEQUENCE continues.
            let id = former?.id ?? fresh
            let isFree = before == nil && !hasImported && (1...Self.longestUID).contains(sent.uid.utf8.count)
            let item = try writer.put(id, draft, uid: isFree ? sent.uid : nil).0
            try writer.expect(growth)
            try steps[0].write(of: item, with: &writer)
            // Apps that know it by its former name have to hear that nothing has that name any more.
            try transaction.putResourceName(
                ResourceName(circleID: place.circle, list: list, name: name, collection: collection, itemID: id),
                insteadOf: try former.map {
                    try ResourceNames(of: [$0], in: place.circle, transaction).name(of: CircleResource($0))
                }, since: writer.circle.version + 1)
            // Whatever the person kept for the item before its deletion is gone, too.
            if before != nil || !own.isEmpty { try writer.keep(try Self.part(own, of: item.uid, look)) }
            return (id, collection)
        }
        let stored = try await write(steps.dropFirst(), after: first, for: caller)
        return PutOutcome(isNew: true, etag: try await etag(of: stored, own, text))
    }

    /// Returns an item that an app puts back after it was deleted, as it was, with what the app changes of it; nil if it did
    /// not exist, or if only its id is kept.
    private func former(
        _ state: State, as sent: ClientResource, _ quotas: Quotas
    ) throws -> (SeenItem, InboundPlan)? {
        guard var item = state.former, !item.isEmptied else { return nil }
        if let reason = sent.unread { throw CollectionFault.invalidData(Sentence(ofOthers: reason)) }
        item.deletedAt = nil
        let (seen, look) = (SeenItem(item, []), state.look)
        let edits = CircleEdits(
            seen: seen, look: look, mayManage: state.role == .owner, most: quotas.occurrencesPerItem)
        return (seen, try edits.plan(sent, replacing: look.shown(seen, []).text))
    }

    /// Returns the item that an app makes, without its changed occurrences, and these as changes.
    private func new(
        _ id: String, _ state: State, as sent: ClientResource, _ quotas: Quotas
    ) throws -> (SeenItem, InboundPlan) {
        let look = state.look
        let new = try NewCircleItem(sent, patients: state.patients, look)
        let seen = SeenItem(try new.content.item(id, in: look.circle.id, zone: look.zone), [])
        try quotas.check(Usage(count: new.edits.count), more: new.edits.count, 0)
        var work = try InboundEdits(seen.item, [], look.names, look.view)
        for edit in new.edits { try work.take(edit) }
        return (seen, try InboundPlan(work, seen))
    }

    /// Throws `CollectionFault.uidConflict` if the person sees something with a UID already.
    ///
    /// - Returns: whether others see an imported event of the circle with it, who would have two under one UID.
    private func refuse(
        _ uid: String, _ known: [ScheduleItem], _ place: CircleSegment, for caller: CalDAVCaller,
        _ reader: CircleReader
    ) throws -> Bool {
        let transaction = reader.transaction
        for item in known {
            guard caller.reaches(item.circleID), let kind = settings.kinds[item.collection] else { continue }
            let names = try ResourceNames(of: [item], in: item.circleID, transaction)
            throw CollectionFault.uidConflict(
                segment: CircleSegment(circle: item.circleID, list: .init(kind)).segment,
                name: names.name(of: CircleResource(item)))
        }
        let imported = try ImportedSeries.all(uids: [uid], in: reader.circle, transaction).values.flatMap { $0 }
        for series in imported {
            guard let shown = reader.look.shown(series, { _ in [] }) else { continue }
            throw CollectionFault.uidConflict(
                segment: CircleSegment(circle: place.circle, list: shown.component == .task ? .tasks : .events).segment,
                name: try ResourceNames(of: [], in: place.circle, transaction).name(of: shown.resource))
        }
        return !imported.isEmpty
    }

    /// Returns what to store of a person's parts; throws `CollectionFault.insufficientStorage` for too much.
    static func part(_ own: [PersonalParts], of uid: String, _ look: PersonalLook) throws -> PersonalPart {
        let content = own.isEmpty ? nil : try storedText(own)
        guard content?.utf8.count ?? 0 <= mostPersonal else {
            throw CollectionFault.insufficientStorage(
                Sentence(
                    .personalPartsFull,
                    "Your own additions to an entry may have \(mostPersonal, .most) bytes at most."))
        }
        return PersonalPart(circleID: look.circle.id, userID: look.userID, uid: uid, content: content)
    }

    /// An item as an act left it, with the look that it then had.
    private typealias Written = (item: ScheduleItem, look: PersonalLook)

    /// Changes items and what a person keeps in one act, and returns the item with the look that it then has.
    private func act(
        in look: PersonalLook, for caller: CalDAVCaller,
        _ body:
            @escaping @Sendable (any WriteTransaction, inout ScheduleWriter) throws -> (
                id: String, ScheduleItem.Collection
            )
    ) async throws -> Written {
        let settings = settings
        let own = caller.caller
        let quotas = settings.quotas.clamped(to: own.identity)
        return try await acts.act(on: .circle(look.circle.id, .write), for: own) { act in
            var writer = try ScheduleWriter(
                circle: act.circle, quotas: quotas, transaction: act.transaction, now: act.now)
            let (id, collection) = try body(act.transaction, &writer)
            try writer.finish()
            guard let item = try act.transaction.item(id, collection, in: act.circle.id) else {
                throw ChangedMeanwhile()
            }
            let now = try PersonalLook(of: act.circle, for: look.userID, settings, in: act.transaction)
            return .unnoted("The circle's changes list every item and occurrence.", (item, now))
        }
    }

    /// Writes the rest of a plan, each part in an act of its own, so that others can write in between.
    private func write(
        _ steps: ArraySlice<InboundPlan>, after first: Written, for caller: CalDAVCaller
    ) async throws -> Written {
        var written = first
        for step in steps {
            written = try await act(in: written.look, for: caller) { [item = written.item] transaction, writer in
                let now = try transaction.item(item.id, item.collection, in: item.circleID)
                guard let now, now.content.isSameText(as: item.content) else { throw ChangedMeanwhile(isBegun: true) }
                try step.write(of: item, with: &writer)
                return (item.id, item.collection)
            }
        }
        return written
    }

    /// Returns the ETag if the text that is read back is the one that was sent.
    private func etag(of written: Written, _ own: [PersonalParts], _ text: [UInt8]) async throws -> String? {
        let seen = try await store.read { try SeenItem(written.item, $0) }
        let shown = written.look.shown(seen, own)
        return shown.text == text ? shown.etag.text : nil
    }
}

extension ScheduleItem {
    /// Whether it is stored as it was read: what changes an occurrence changes its item.
    fileprivate func isStored(in transaction: any ReadTransaction) throws -> Bool {
        try transaction.item(id, collection, in: circleID) == self
    }
}
