// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// Takes devices' reports of events that show items. Only the device that carries an item may change it, and the
/// connection's next run judges its changes, as with every other calendar.
extension PersonalWriter {
    /// Takes a device's report of an item's event; nil for an event that shows no item.
    mutating func takeItem(
        _ sent: SentEvent, _ externalID: String, _ known: PersonalEvent?, at pointer: String
    ) throws -> (PersonalEvent?, Outcome)? {
        if let known {
            guard known.tie != nil else { return nil }
            return try take(sent, of: known, at: pointer)
        }
        guard try hasItems() else { return nil }
        if let instance = sent.instance,
            let series = try transaction.personalEventEverKnown(
                externalID, instance: "", of: "apple", user: user), series.tie != nil
        {
            return try takeOccurrence(sent, instance, of: series, at: pointer)
        }
        guard
            let former = try transaction.formerPhoneEvent(externalID, instance: sent.instance?.key ?? "", of: user),
            let event = try transaction.personalEventEverKnown(former, of: user), event.tie != nil
        else { return nil }
        return try take(sent, of: event, at: pointer)
    }

    /// Throws `Refusal` unless the device carries the item now.
    private func check(_ tie: PersonalEvent.ItemAndDevice, _ sent: SentEvent, at pointer: String) throws {
        guard (tie.carrier ?? "") == (device ?? ""), sent.turn.map({ $0 == tie.turn }) ?? true else {
            throw Refusal.invalid([
                Fault(
                    pointer: "\(pointer)/externalId", code: .stale,
                    message: "Another device carries this item now, or this comes from an earlier turn.")
            ])
        }
    }

    private mutating func take(
        _ sent: SentEvent, of known: PersonalEvent, at pointer: String
    ) throws -> (PersonalEvent?, Outcome) {
        guard let tie = known.tie else { return (known, .unchanged) }
        try check(tie, sent, at: pointer)
        var event = known
        if sent.isDeletion { return try takeDeletion(sent, of: &event, tie) }
        if known.deletedAt != nil, known.mapping.instanceKey.isEmpty, tie.sentAt != known.updatedAt {
            // The event no longer exists here, so the answer reports that to the device again.
            try touch(&event)
            return (known, .unchanged)
        }
        var content = try sent.edit.applied(to: known.content, at: pointer)
        // With a changed occurrence, devices send the rule of its series.
        if !known.mapping.instanceKey.isEmpty { content.recurrence = nil }
        let delivered = try carrier(of: tie.source)?.deliveredAt ?? 0
        var versions = try PhoneVersions(tie)
        let earlier = versions.possible(base: sent.basedOn, delivered: delivered)
        let merged = known.content.taking(content, besides: earlier)
        if known.deletedAt != nil, tie.sentAt != known.updatedAt {
            // An edit of an occurrence that was cancelled here is for the run to judge.
            guard merged != known.content, let series = try series(of: tie), series.deletedAt == nil else {
                try touch(&event)
                return (known, .unchanged)
            }
        }
        try link(&event, sent)
        let isLinked = event.mapping != known.mapping
        if merged == known.content, known.deletedAt == nil {
            if content == known.content || PhonePart.allCases.allSatisfy({ $0.isSame(content, merged) }) {
                if isLinked { try linkOccurrences(of: event, known) }
                if isLinked { try touch(&event) }
                return (isLinked ? event : known, isLinked ? .updated : .unchanged)
            }
            // The device has an older version than the server, so the server sends its version again.
            let said = isLinked ? try time() : known.updatedAt
            let now = try time()
            versions.add(content, until: now, delivered: delivered)
            event.tie?.earlier = try versions.stored
            try put(&event, at: now)
            if isLinked { try linkOccurrences(of: event, known) }
            event.updatedAt = said
            return (event, isLinked ? .updated : .unchanged)
        }
        if let base = earlier.first, !PhonePart.times.isSame(merged, known.content),
            !PhonePart.times.isSame(base, known.content)
        {
            try rebase(known, on: base)
        }
        let said = try time()
        event.tie?.sentAt = said
        event.changedAt = min(sent.lastModified ?? self.now, self.now)
        event.deletedAt = nil
        event.content = merged
        event.sequence = min(event.sequence + 1, Int(Int32.max))
        (event.firstDay, event.lastDay) = PersonalEvent.days(of: merged)
        event.mapping.sourceDevice = sent.sourceDevice ?? event.mapping.sourceDevice ?? sent.sender
        var at = said
        if merged != content {
            // The response reports the device's version; the server's version follows as another change.
            at = try time()
            versions.add(content, until: at, delivered: delivered)
            event.tie?.earlier = try versions.stored
            event.tie?.sentAt = at
        }
        try put(&event, at: at)
        if isLinked { try linkOccurrences(of: event, known) }
        try report(.edited, tie)
        event.updatedAt = said
        return (event, known.deletedAt == nil ? .updated : .created)
    }

    /// Makes the next run see that both sides changed an event: the device moved or deleted its own version, which was
    /// not the server's current one.
    private func rebase(_ event: PersonalEvent, on base: PersonalEvent.Content, isDeleted: Bool = false) throws {
        guard let tie = event.tie, let row = try transaction.syncLink(of: tie.source, tie.collection, tie.itemID) else {
            return
        }
        var link: CalendarSync.Link = try storedRecord(row.content)
        guard var agreed = link.agreed else { return }
        let span = PhoneForm.span(base, zone: nil)
        if isDeleted, event.mapping.instanceKey.isEmpty {
            (agreed.ours.title, agreed.ours.span) = (base.title, span)
            (agreed.ours.notes, agreed.ours.location) = (base.description ?? "", base.location ?? "")
        } else if event.mapping.instanceKey.isEmpty {
            (agreed.ours.span, agreed.theirs.span) = (span, span)
        } else if case .instant(let start)? = event.mapping.instanceID.flatMap({ PersonalMoment($0) }) {
            agreed.ours.place(start, at: span)
            agreed.theirs.place(start, at: span)
        }
        link.agreed = agreed
        try transaction.putSyncLink(SyncLinkRow(link, of: tie.source))
    }

    // MARK: Deletions

    private mutating func takeDeletion(
        _ sent: SentEvent, of event: inout PersonalEvent, _ tie: PersonalEvent.ItemAndDevice
    ) throws -> (PersonalEvent?, Outcome) {
        guard event.deletedAt == nil else { return (event, .unchanged) }
        let delivered = try carrier(of: tie.source)?.deliveredAt ?? 0
        if let base = try PhoneVersions(tie).possible(base: sent.basedOn, delivered: delivered).first {
            try rebase(event, on: base, isDeleted: true)
        }
        try markDeleted(&event, sent)
        if event.mapping.instanceKey.isEmpty {
            for var row in try transaction.phoneItems(of: tie.source, of: user, tie.collection, tie.itemID)
            where row.tie?.generation == tie.generation && row.deletedAt == nil && row.id != event.id {
                try markDeleted(&row, sent)
            }
        } else if var series = try series(of: tie), let start = event.mapping.instanceID {
            try leaveOut(start, of: &series, sent)
        }
        try report(.deleted, tie)
        return (event, .updated)
    }

    private mutating func markDeleted(_ event: inout PersonalEvent, _ sent: SentEvent) throws {
        let at = try time()
        event.deletedAt = min(sent.lastModified ?? now, now)
        event.changedAt = min(sent.lastModified ?? now, now)
        event.sequence = min(event.sequence + 1, Int(Int32.max))
        event.tie?.sentAt = at
        event.tie?.earlier = nil
        try put(&event, at: at)
    }

    private mutating func leaveOut(_ start: String, of series: inout PersonalEvent, _ sent: SentEvent) throws {
        guard let text = series.content.recurrence, var stored = PersonalRecurrence(stored: text),
            let key = PersonalMoment(start)?.key,
            !stored.exceptions.contains(where: { PersonalMoment($0)?.key == key })
        else { return }
        guard stored.exceptions.count < quotas.occurrencesPerItem else {
            throw Refusal.quota("A series has", quotas.occurrencesPerItem, "exceptions")
        }
        stored.exceptions.append(start)
        series.content.recurrence = stored.stored
        let at = try time()
        series.changedAt = min(sent.lastModified ?? now, now)
        series.sequence = min(series.sequence + 1, Int(Int32.max))
        series.tie?.sentAt = at
        try put(&series, at: at)
    }

    // MARK: Changed occurrences

    /// Takes an occurrence of an item's series that a device changed for the first time.
    private mutating func takeOccurrence(
        _ sent: SentEvent, _ instance: (text: String, key: String), of series: PersonalEvent, at pointer: String
    ) throws -> (PersonalEvent?, Outcome) {
        guard let tie = series.tie else { return (series, .unchanged) }
        let known = try transaction.phoneItem(
            of: tie.source, of: user, tie.collection, tie.itemID, generation: tie.generation, instance: instance.key)
        if let known { return try take(sent, of: known, at: pointer) }
        try check(tie, sent, at: pointer)
        guard series.deletedAt == nil else { return (series, .unchanged) }
        if sent.isDeletion {
            var series = series
            try leaveOut(instance.text, of: &series, sent)
            try report(.edited, tie)
            return (series, .updated)
        }
        // Fields that the device does not send are as in the series.
        var content = try sent.edit.applied(to: series.content, at: pointer)
        content.recurrence = nil
        let most = quotas.occurrencesPerItem
        guard try transaction.phoneItemCount(of: tie.source, tie.collection, tie.itemID) <= most else {
            throw Refusal.quota("A series has", most, "changed occurrences")
        }
        let writer = try PhoneEventWriter(of: user, source: tie.source, transaction: transaction, now: now)
        var event = writer.new(
            tie.collection, tie.itemID, generation: tie.generation, in: tie.circleID, content, start: instance.text)
        let at = try time()
        event.mapping.take(series.mapping)
        event.mapping.sourceDevice = sent.sourceDevice ?? event.mapping.sourceDevice ?? sent.sender
        event.tie?.sentAt = at
        event.changedAt = min(sent.lastModified ?? now, now)
        event.sequence = 1
        try put(&event, at: at)
        try report(.edited, tie)
        return (event, .created)
    }

    private func series(of tie: PersonalEvent.ItemAndDevice) throws -> PersonalEvent? {
        try transaction.phoneItem(
            of: tie.source, of: user, tie.collection, tie.itemID, generation: tie.generation, instance: "")
    }

    // MARK: The device's ids

    /// Takes over the ids under which the device knows an event.
    private mutating func link(_ event: inout PersonalEvent, _ sent: SentEvent) throws {
        let (state, instance) = (event.mapping.state, (event.mapping.instanceID, event.mapping.instanceKey))
        var said = sent
        said.state = state == .pending || state == .ignored ? .linked : state
        event.mapping = event.mapping.taking(said)
        // The device cannot change which occurrence the event is.
        (event.mapping.instanceID, event.mapping.instanceKey) = instance
        if event.mapping.externalID != nil, event.mapping.sourceDevice == nil {
            event.mapping.sourceDevice = sent.sourceDevice ?? sent.sender
        }
    }

    /// Gives the changed occurrences of a series the ids under which the device knows the series.
    private mutating func linkOccurrences(of event: PersonalEvent, _ known: PersonalEvent) throws {
        guard let tie = event.tie, event.mapping.instanceKey.isEmpty,
            event.mapping.externalID != known.mapping.externalID
        else { return }
        if known.mapping.externalID == nil { try report(.linked, tie) }
        for var row in try transaction.phoneItems(of: tie.source, of: user, tie.collection, tie.itemID)
        where row.tie?.generation == tie.generation && !row.mapping.instanceKey.isEmpty && row.deletedAt == nil {
            row.mapping.take(event.mapping)
            try touch(&row)
        }
    }

    // MARK: Reports

    private enum News { case edited, deleted, linked }

    /// Notes the connection whose run has to judge the device's change; office days without a connection are updated at
    /// once.
    private mutating func report(_ news: News, _ tie: PersonalEvent.ItemAndDevice) throws {
        guard tie.source == PhoneCarrier.officeDays else {
            if news != .linked { changedSources.insert(ByteString(tie.source)) }
            return
        }
        guard let date = CivilDate(iso: tie.itemID) else { return }
        var reports: [OfficeDayEvents.Report] = []
        switch news {
        case .edited: reports = [OfficeDayEvents.Report(date: date, kind: .edited)]
        case .deleted: reports = [OfficeDayEvents.Report(date: date, kind: .deleted)]
        case .linked: break
        }
        let (user, now, written) = (user, now, news == .linked ? 1 : 0)
        // Office days are written with times of the same calendar, so the calendar is lent to them.
        try lendCalendar { transaction in
            try OfficeDayEvents.note(
                reports, written: written, failed: 0, problem: nil, of: user, now: now, in: transaction)
        }
    }
}

extension Entry {
    /// Moves one occurrence and leaves its other fields as they are.
    fileprivate mutating func place(_ start: Instant, at span: TimeSpan) {
        var changed = if case .changed(let known)? = occurrences[start] { known } else { plain(at: start) }
        changed.span = span
        occurrences[start] = .changed(changed)
    }
}
