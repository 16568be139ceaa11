// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The effects of a person's decision about a conflict: all of them are stored in one transaction, and the next run
/// does the rest.
public struct Resolution: Hashable, Sendable {
    public enum Keep: String, Hashable, Sendable, Codable, CaseIterable { case kalends, calendar, both }

    public enum Problem: Error, Hashable, Sendable {
        /// `both` is allowed only for two times of one appointment.
        case notBoth
        /// `both` would make more appointments than `mostCopies`.
        case tooManyCopies
        /// It was already decided, or its subject no longer exists.
        case outdated
    }

    /// The maximum number of occurrences for which both times are kept.
    public static let mostCopies = 100

    /// The record in its resolved form.
    public var conflict: ConflictRecord
    /// The link to store; nil when it does not change.
    public var link: Link?
    /// The change to apply to the item with `SyncStore.apply`, or nil.
    public var change: InboundChange?
}

extension ConflictRecord {
    /// Closes the conflict, and leaves everything as it is.
    public func dismissed(at now: Instant) -> ConflictRecord { closed(.dismissed, at: now) }

    /// Decides for one side.
    ///
    /// An edit that was put back may still be taken over: `calendar` is also possible for a resolved `editedThere`.
    ///
    /// - Parameters:
    ///   - link: the current link of `item`.
    ///   - item: the current whole item; nil when the connection does not show it.
    public func resolution(
        _ keep: Resolution.Keep, link: Link?, item ours: Ours?, at now: Instant
    ) throws(Resolution.Problem) -> Resolution {
        guard keep != .both || kind == .bothChanged else { throw .notBoth }
        // To decide a settled conflict again would create a second appointment, or cancel what has been restored.
        guard state == .open || kind == .editedThere else { throw .outdated }
        var resolution =
            switch kind {
            case .bothChanged: try resolveTimes(keep, ours, at: now)
            case .editedThere: try resolveEdit(keep, link, ours, at: now)
            case .deletedThere: try resolveDeletion(keep, link, ours, at: now)
            case .unreadable: try resolveUnreadable(keep, link, at: now)
            }
        if let change = resolution.change {
            resolution.change = change.ofSeries
            if resolution.change?.edits.isEmpty == true { throw .outdated }
        }
        return resolution
    }

    func closed(_ outcome: Outcome, at now: Instant) -> ConflictRecord {
        var record = self
        record.state = .resolved
        record.outcome = outcome
        record.resolvedAt = now
        return record
    }

    // MARK: One function for each kind

    /// Sets the time that was not kept, if the person wants it; the next run writes it to the calendar.
    private func resolveTimes(
        _ keep: Resolution.Keep, _ ours: Ours?, at now: Instant
    ) throws(Resolution.Problem) -> Resolution {
        let kept = fields.first?.kept ?? .calendar
        let outcome: Outcome =
            switch keep {
            case .kalends: .kalends
            case .calendar: .calendar
            case .both: .both
            }
        var resolution = Resolution(conflict: closed(outcome, at: now))
        if keep == .kalends && kept == .kalends || keep == .calendar && kept == .calendar { return resolution }
        guard let ours, let other = kept == .kalends ? theirs : self.ours else { throw .outdated }
        guard keep != .both || starts.count <= Resolution.mostCopies else { throw .tooManyCopies }
        let entry = other.canonical
        var edits: [InboundChange.Edit] = starts.compactMap { start in
            guard let span = entry.effective(at: start)?.span else { return nil }
            return keep == .both ? .copy(span, of: start) : .occurrenceTimes(start, span)
        }
        if occurrence == nil { edits = [keep == .both ? .copy(other.span, of: nil) : .times(other.span)] }
        guard !edits.isEmpty else { throw .outdated }
        resolution.change = InboundChange(
            item: item, revision: ours.revision, edits: edits, reason: "conflict resolved")
        return resolution
    }

    private func resolveEdit(
        _ keep: Resolution.Keep, _ link: Link?, _ ours: Ours?, at now: Instant
    ) throws(Resolution.Problem) -> Resolution {
        var resolution = Resolution(conflict: closed(keep == .kalends ? .kalends : .calendar, at: now))
        if keep == .calendar {
            if let ours, let theirs {
                let edits = self.edits(from: theirs.canonical)
                guard !edits.isEmpty else { throw .outdated }
                resolution.change = InboundChange(
                    item: item, revision: ours.revision, edits: edits, reason: "conflict resolved")
            } else if var link, link.state == .conflict {
                // The item is gone, and the event stays in the calendar.
                link.state = .untracked
                link.since = now
                resolution.link = link
            } else {
                throw .outdated
            }
        } else if state == .open, var link {
            if link.state == .conflict {
                // The next run removes the event, as its item is gone.
                link.state = .linked
                if let theirs { link.agreed?.theirs = theirs.canonical }
            } else {
                link.insist(on: fields.map(\.field), at: starts)
            }
            resolution.link = link
        }
        return resolution
    }

    private func resolveDeletion(
        _ keep: Resolution.Keep, _ link: Link?, _ ours: Ours?, at now: Instant
    ) throws(Resolution.Problem) -> Resolution {
        guard var link else { throw .outdated }
        var resolution = Resolution(conflict: closed(keep == .kalends ? .kalends : .calendar, at: now))
        if keep == .calendar {
            guard let ours else { return resolution }
            let edits = starts.map { InboundChange.Edit.occurrenceCancelled($0) }
            resolution.change = InboundChange(
                item: item, revision: ours.revision, edits: edits.isEmpty ? [.cancelled] : edits,
                reason: "deleted in the calendar")
        } else if occurrence != nil {
            link.insist(on: [.existence], at: starts)
            resolution.link = link
        } else if link.externalID == nil {
            // Without a base, an item that is shown gets an event again: the same event, if a person restored it.
            link.state = .deleted
            link.agreed = nil
            link.since = now
            resolution.link = link
        }
        return resolution
    }

    private func resolveUnreadable(
        _ keep: Resolution.Keep, _ link: Link?, at now: Instant
    ) throws(Resolution.Problem) -> Resolution {
        guard var link, let id = link.externalID else { throw .outdated }
        var resolution = Resolution(conflict: closed(keep == .kalends ? .kalends : .calendar, at: now))
        if keep == .kalends {
            // A new event is created, and then the unreadable one is removed.
            link.leftovers.append(Leftover(id: id, etag: link.etag, generation: link.generation))
            link.startAgain(at: now)
        } else {
            link.state = .untracked
            link.since = now
        }
        resolution.link = link
        return resolution
    }

    /// Returns the edits that make the item equal to the event.
    private func edits(from theirs: Entry) -> [InboundChange.Edit] {
        if let start = item.occurrence {
            let own = Entry(
                title: theirs.title, notes: theirs.notes, location: theirs.location, span: theirs.span,
                status: theirs.status)
            let isOfOccurrence = fields.contains { [.title, .notes, .location, .times, .status].contains($0.field) }
            return isOfOccurrence ? [.occurrence(start, own)] : []
        }
        if occurrence != nil {
            return starts.map { start in
                theirs.effective(at: start).map { .occurrence(start, $0) } ?? .occurrenceCancelled(start)
            }
        }
        return fields.compactMap { field in
            switch field.field {
            case .title: .title(theirs.title)
            case .notes: .notes(theirs.notes)
            case .location: .location(theirs.location)
            case .times: .times(theirs.span)
            case .recurrence: .repetition(theirs.repetition)
            case .reminders: .reminders(theirs.reminders)
            case .status: .status(theirs.status)
            case .availability: .availability(theirs.availability)
            case .existence: nil
            }
        }
    }
}

extension Link {
    /// Makes our values count as edits, so that the next run writes them.
    ///
    /// - Parameter starts: the occurrences whose values are meant; empty for the event as a whole.
    mutating func insist(on fields: [EntryField], at starts: [Instant]) {
        guard var agreed else { return }
        let theirs = agreed.theirs.canonical
        agreed.ours = agreed.ours.canonical
        for start in starts {
            agreed.ours.occurrences[start] = theirs.occurrences[start] ?? .changed(theirs.plain(at: start))
        }
        if starts.isEmpty { for field in fields { agreed.ours.take(field, of: theirs) } }
        self.agreed = agreed
    }

    /// Prepares another event for the item, under the next generation.
    mutating func startAgain(at now: Instant) {
        generation += 1
        externalID = nil
        lastID = nil
        etag = nil
        stamp = nil
        agreed = nil
        state = .pending
        reason = nil
        refused = nil
        since = now
    }
}
