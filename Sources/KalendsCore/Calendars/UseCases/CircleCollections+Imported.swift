// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import ICalBridge
import Storage

extension CircleCollections {
    /// Changes what the person brought in: all of it may be changed, but for its alarms, which are only theirs.
    ///
    /// - Parameter isGone: whether it was removed, and comes back.
    func change(
        _ series: ImportedSeries, _ shown: ShownResource, _ look: PersonalLook, as sent: ClientResource,
        _ text: [UInt8], isGone: Bool = false, for caller: CalDAVCaller
    ) async throws -> PutOutcome {
        let now = now()
        let records = try records(of: sent, replacing: series, look, now: now)
        let stored = try await replace(series, by: records, look, isGone: isGone, for: caller) {
            [settings] (transaction, circle) -> ShownResource? in
            let look = try PersonalLook(of: circle, for: look.userID, settings, in: transaction)
            let uids = [series.uid]
            let new = try ImportedSeries.all(uids: uids, in: circle, transaction).values.flatMap { $0 }
                .first { CircleResource($0) == shown.resource }
            guard let new, let plain = look.shown(new, { _ in [] }) else { return nil }
            let own = PersonalParts.own(sent.parts, beside: plain.text)
            try transaction.putPersonalPart(
                try Self.part(own, of: new.shownUID, look), changedIn: circle.version)
            return look.shown(new) { _ in own }
        }
        return PutOutcome(isNew: isGone, etag: stored?.text == text ? stored?.etag.text : nil)
    }

    /// Removes what the person brought in.
    func remove(_ series: ImportedSeries, _ look: PersonalLook, for caller: CalDAVCaller) async throws {
        try await replace(series, by: [], look, for: caller) { _, _ in }
    }

    /// Replaces all components of a series in one act, during the circle's turn.
    ///
    /// - Parameter body: gets the circle as it shows the new components.
    private func replace<Value: Sendable>(
        _ series: ImportedSeries, by records: [ImportedEventRecord], _ look: PersonalLook, isGone: Bool = false,
        for caller: CalDAVCaller,
        _ body: @escaping @Sendable (any WriteTransaction, Circle) throws -> Value
    ) async throws -> Value {
        let (id, turns) = (look.circle.id, turns)
        let quotas = settings.quotas.clamped(to: caller.caller.identity)
        let old = isGone ? [] : series.events.map(\.record)
        // All of it is written in one act.
        let most = settings.eventLimits.occurrences
        guard max(old.count, records.count) <= most.count + 1,
            (old + records).reduce(0, { $0 + $1.content.utf8.count }) <= 2 * most.bytes
        else {
            throw CollectionFault.forbidden(
                Sentence(ofOthers: "An imported series as long as this one can only be changed by importing it again."))
        }
        return try await turns.alone(in: id) {
            try await EventStaging.discard(in: id, store)
            return try await acts.act(on: .circle(id, .write), for: caller.caller) { act in
                let (transaction, circle) = (act.transaction, act.circle)
                guard let source = series.events.first?.record.source else { throw ChangedMeanwhile() }
                let all = try ImportedSeries.all(uids: [series.uid], in: circle, transaction).values.flatMap { $0 }
                let current = all.first { $0.events.first?.record.source == source }
                guard current?.events.map(\.record) ?? [] == old else { throw ChangedMeanwhile() }
                _ = try SeriesReplacement(
                    circle: circle, uid: series.uid, source: source, quotas: quotas, limits: settings.eventLimits
                )
                .write(old, replacedBy: records, in: transaction, now: act.now)
                guard let shown = try transaction.circle(id) else { throw ChangedMeanwhile() }
                return .unnoted("The circle's changes list it.", try body(transaction, shown))
            }
        }
    }

    /// Returns the rows of what an app sent.
    private func records(
        of sent: ClientResource, replacing series: ImportedSeries, _ look: PersonalLook, now: Int
    ) throws -> [ImportedEventRecord] {
        guard let first = series.events.first?.record, !sent.packed.isEmpty else {
            throw CollectionFault.invalidData(
                Sentence(.appointmentTime, "An appointment must have a time of day and take place."))
        }
        let rules = look.zone.rules
        var rows: [ByteString: ImportedEventRecord] = [:]
        for packed in sent.packed {
            var event = try StoredEvent.event(packed)
            let key = event.recurrenceKey(floatingIn: rules)
            let old = series.events.first { $0.record.recurrenceID.isSameText(as: key) }
            (event.uid, event.alarms) = (series.uid, (old ?? series.events.first)?.event.alarms ?? [])
            let span = event.span(floatingIn: rules)
            var record = ImportedEventRecord(
                circleID: look.circle.id, source: first.source, uid: series.uid, recurrenceID: key,
                startsAt: span.start, endsAt: span.end, fingerprint: event.fingerprint(floatingIn: rules),
                content: event.stored(keeping: [.attendees, .attachments]).content, fileSequence: first.fileSequence,
                fileModifiedAt: first.fileModifiedAt, importedBy: first.importedBy, now: now)
            record.createdAt = old?.createdAt ?? now
            (record.visibleTo, record.shownUID) = (first.visibleTo, first.shownUID)
            // The last component counts of two for one occurrence, which may name its start in two ways.
            rows[ByteString(key)] = record
        }
        return rows.values.sorted { ByteString($0.recurrenceID) < ByteString($1.recurrenceID) }
    }
}

extension CircleReader {
    /// Returns the imported event that had a name until its person removed it with an app, as it was then; nil if its last
    /// change was a different one, or is no longer kept.
    ///
    /// - Parameter shown: the UID that it showed, derived from its own if something else had that before.
    func removedSeries(shownAs shown: String, name: String) throws -> (series: ImportedSeries, shown: ShownResource)? {
        if let found = try removedSeries(uid: shown, name: name) { return found }
        guard let hash = StoredEvent.hash(inDerived: shown), name.hasPrefix(hash) else { return nil }
        var last = ""
        while true {
            let uids = try transaction.idsOfKeptContents(KeptContent.events, in: circle.id, after: last, limit: 1000)
            let uid = uids.first { uid in
                [EventSource.shared, .own(look.userID)].contains { StoredEvent.derivedUID(uid, of: $0) == shown }
            }
            if let uid { return try removedSeries(uid: uid, name: name) }
            guard let next = uids.last else { return nil }
            last = next
        }
    }

    private func removedSeries(uid: String, name: String) throws -> (series: ImportedSeries, shown: ShownResource)? {
        // Others may have an event with the same UID, from another source, whose changes are among them.
        let names = try ResourceNames(of: [], in: circle.id, transaction)
        let last = try transaction.lastKeptContents(of: uid, KeptContent.events, in: circle.id, limit: 50)
        let kept = try last.compactMap { try $0.content.map { try KeptEvent(stored: $0) } }.first { kept in
            let resource = CircleResource.imported(uid: ByteString(uid), source: ByteString(kept.source.text))
            return names.name(of: resource).isSameText(as: name)
        }
        guard let kept, kept.isRemoval,
            kept.ownerID.map({ $0.isSameText(as: look.userID) }) ?? false,
            try transaction.components(of: uid, from: kept.source, in: circle).isEmpty,
            let series = try ImportedSeries.all(kept.records(of: uid, in: circle, now: circle.updatedAt)).first,
            let shown = look.shown(series, { _ in [] }), names.name(of: shown.resource).isSameText(as: name)
        else { return nil }
        return (series, shown)
    }
}
