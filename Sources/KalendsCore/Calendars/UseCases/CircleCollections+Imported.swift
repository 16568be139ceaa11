// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import ICalBridge
import Storage

extension CircleCollections {
    /// Changes what the person brought in: all of it may be changed, but for its alarms, which are only theirs.
    func change(
        _ series: ImportedSeries, _ shown: ShownResource, _ look: PersonalLook, as sent: ClientResource,
        _ text: [UInt8], for caller: CalDAVCaller
    ) async throws -> PutOutcome {
        let now = now()
        let records = try records(of: sent, replacing: series, look, now: now)
        let stored = try await replace(series, by: records, look, for: caller) {
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
        return PutOutcome(isNew: false, etag: stored?.text == text ? stored?.etag.text : nil)
    }

    /// Removes what the person brought in.
    func remove(_ series: ImportedSeries, _ look: PersonalLook, for caller: CalDAVCaller) async throws {
        try await replace(series, by: [], look, for: caller) { _, _ in }
    }

    /// Replaces all components of a series in one act, during the circle's turn.
    ///
    /// - Parameter body: gets the circle as it shows the new components.
    private func replace<Value: Sendable>(
        _ series: ImportedSeries, by records: [ImportedEventRecord], _ look: PersonalLook, for caller: CalDAVCaller,
        _ body: @escaping @Sendable (any WriteTransaction, Circle) throws -> Value
    ) async throws -> Value {
        let (id, turns) = (look.circle.id, turns)
        let quotas = settings.quotas.clamped(to: caller.caller.identity)
        let old = series.events.map(\.record)
        return try await turns.alone(in: id) {
            try await EventStaging.discard(in: id, store)
            return try await acts.act(on: .circle(id, .write), for: caller.caller) { act in
                let (transaction, circle) = (act.transaction, act.circle)
                let all = try ImportedSeries.all(uids: [series.uid], in: circle, transaction).values.flatMap { $0 }
                guard all.contains(where: { $0.events.map(\.record) == old }), let source = old.first?.source else {
                    throw ChangedMeanwhile()
                }
                if records.count > old.count {
                    let known = try transaction.importedEventCount(in: id)
                    guard known + records.count - old.count <= quotas.eventsPerCircle else {
                        throw Refusal.quota("A circle has", quotas.eventsPerCircle, "imported events")
                    }
                }
                try transaction.beginStaging(in: circle)
                try transaction.stageEnd(of: old.map(\.key), in: circle)
                try transaction.stage(records, in: circle)
                try transaction.publishEvents(in: circle, [source: records.count - old.count], now: act.now)
                try transaction.note(.fileImport, .updated, in: id, now: act.now)
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
                Sentence(.appointmentTime, "An appointment has a time of day, and takes place."))
        }
        let sequence = (series.events.map(\.record.sequence).max() ?? 0) + 1
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
            record.sequence = sequence
            (record.visibleTo, record.shownUID) = (first.visibleTo, first.shownUID)
            // The last component counts of two for one occurrence, which may name its start in two ways.
            rows[ByteString(key)] = record
        }
        return rows.values.sorted { ByteString($0.recurrenceID) < ByteString($1.recurrenceID) }
    }
}
