// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// How an item was shown where its event was edited.
struct InboundView: Sendable {
    /// The circle's zone.
    let zone: TimeZoneReference
    let kinds: ItemKinds
    let titlePrefix: String
    let level: DetailLevel
    let includesReminders: Bool
}

extension InboundView {
    init(_ parts: ConnectionParts) {
        self.init(
            zone: parts.zone, kinds: parts.kinds, titlePrefix: parts.titlePrefix,
            level: parts.configuration.feed.level, includesReminders: parts.configuration.feed.includeReminders)
    }
}

/// Turns edits of an event into changes of its item; nothing is stored here.
struct InboundEdits {
    let item: ScheduleItem
    let view: InboundView
    let names: CircleNames
    private(set) var content: any ItemContent
    /// The occurrences that have to be stored, by their original starts; nil means that the occurrence is as the series
    /// has it.
    private(set) var occurrences: [Instant: OccurrenceContent?] = [:]
    /// The contents of additional items.
    private(set) var copies: [any ItemContent] = []
    /// The changed occurrences as they were stored before.
    private var stored: [Instant: OccurrenceContent] = [:]

    init(
        _ item: ScheduleItem, _ occurrences: [ChangedOccurrence], _ names: CircleNames, _ view: InboundView
    ) throws {
        (self.item, self.names, self.view) = (item, names, view)
        content = try view.kinds.content(of: item)
        for occurrence in occurrences { stored[try occurrence.start] = try OccurrenceContent(occurrence) }
    }

    /// The time zone of the item.
    private var zone: TimeZoneReference { content.zone(or: view.zone) }

    /// Applies one edit; throws `InboundRefusal` if the item cannot be changed in this way. An edit of an occurrence that
    /// fails changes nothing.
    mutating func take(_ edit: InboundChange.Edit) throws {
        switch edit {
        case .times(let span): try move(to: span)
        case .title(let title): try rename(title)
        case .notes(let notes): content.notes = try written(notes)
        case .location(let location): try content.place(try written(location))
        case .reminders(let minutes): try remind(minutes)
        case .availability: throw InboundRefusal("Whether somebody is busy follows from the item.")
        case .status(let status):
            guard var appointment = content as? AppointmentContent else {
                if status == .confirmed { return }
                throw InboundRefusal("Only an appointment can be tentative.")
            }
            appointment.status = status == .tentative ? .tentative : .confirmed
            content = appointment
        case .cancelled: try content.cancel()
        case .repetition(let repetition): try change { $0.recurrence = repetition }
        case .occurrenceTimes(let start, let span):
            var own = try occurrence(at: start)
            (own.startAt, own.endAt) = try Self.instants(span)
            occurrences[start] = own
        case .occurrence(let start, let changed): occurrences[start] = try occurrence(at: start, as: changed)
        case .occurrenceCancelled(let start):
            var own = try occurrence(at: start)
            own.status = .cancelled
            occurrences[start] = own
        case .occurrenceRestored(let start):
            let plain = try plain(at: start)
            var own = try occurrence(at: start)
            (own.startAt, own.endAt) = (plain.startAt, plain.endAt)
            if own.status == .cancelled { own.status = plain.status }
            if try series().recurrence?.exdates.contains(start) == true {
                try change { $0.recurrence?.exdates.removeAll { $0 == start } }
            }
            // Only its times are as in the series again: what else the occurrence has of its own was said here.
            occurrences[start] = .some(own == plain ? nil : own)
        case .copy(let span, let start): copies.append(try copy(at: span, of: start))
        }
    }

    /// Takes a whole content that was worked out elsewhere.
    mutating func replace(_ new: any ItemContent) { content = new }

    // MARK: Times

    private static func instants(_ span: TimeSpan) throws -> (Instant, Instant) {
        guard case .timed(let start, let end, _) = span else {
            throw InboundRefusal("An appointment has a time of day, so it cannot be moved to whole days.")
        }
        return (start, end)
    }

    private mutating func move(to span: TimeSpan) throws {
        let own = try zone(of: span)
        let (old, before) = (content, zone)
        try content.move(to: span)
        content.timeZone = own
        guard var appointment = content as? AppointmentContent, let recurrence = appointment.recurrence,
            let first = (old as? AppointmentContent)?.startAt
        else { return }
        let shift = SeriesShift(from: before.rules, first, to: zone.rules, appointment.startAt)
        appointment.recurrence = try shift.moved(recurrence, beginning: first, now: appointment.startAt)
        moveOccurrences(by: shift)
        content = appointment
    }

    /// Identifies changed occurrences by the original starts that they would now have; their own times stay.
    private mutating func moveOccurrences(by shift: SeriesShift) {
        let all = stored.merging(occurrences.compactMapValues { $0 }) { $1 }.filter {
            occurrences[$0.key] != .some(nil)
        }
        var moved: [Instant: OccurrenceContent?] = [:]
        for start in stored.keys { moved[start] = .some(nil) }
        for (start, own) in all { moved[shift.moved(start)] = own }
        occurrences = moved
    }

    /// Returns the item's own zone after a move: the event's if this machine knows it. UTC does not count, because some
    /// programs write every time in it.
    private func zone(of span: TimeSpan) throws -> String? {
        guard case .timed(_, _, let name) = span, !["UTC", "Etc/UTC", "GMT", zone.identifier].contains(name),
            let known = TimeZoneReference(name)
        else { return content.timeZone }
        return known.identifier
    }

    // MARK: Texts

    private mutating func rename(_ title: String) throws {
        guard view.level <= .titles else { throw InboundRefusal("This connection does not show the item's title.") }
        try content.rename(behindBeginning(title), names)
    }

    /// Returns a title without the beginning that all titles of the item's kind have.
    private func behindBeginning(_ title: String) -> String {
        title.removingPrefix(content.careItem(names, in: zone).titleBeginning(CareStyle(titlePrefix: view.titlePrefix)))
    }

    /// Returns the value for notes or a location; throws if they are not shown.
    private func written(_ text: String) throws -> String? {
        guard view.level == .full else { throw InboundRefusal("This connection shows neither notes nor locations.") }
        return text.isEmpty ? nil : text
    }

    private mutating func remind(_ minutes: [Int]) throws {
        guard view.level == .full, view.includesReminders else {
            throw InboundRefusal("This connection does not show reminders.")
        }
        try content.remind(minutes)
    }

    // MARK: Series

    private mutating func change(_ body: (inout AppointmentContent) -> Void) throws {
        guard var appointment = content as? AppointmentContent else {
            throw InboundRefusal("Only an appointment can be changed in this way.")
        }
        body(&appointment)
        content = appointment
    }

    private func series() throws -> AppointmentContent {
        guard let appointment = content as? AppointmentContent, appointment.recurrence != nil else {
            throw InboundRefusal("Only an appointment that repeats has occurrences.")
        }
        return appointment
    }

    /// Returns an occurrence as it is now.
    private func occurrence(at start: Instant) throws -> OccurrenceContent {
        _ = try series()
        if case .some(.some(let own)) = occurrences[start] { return own }
        if occurrences[start] == nil, let own = stored[start] { return own }
        return try plain(at: start)
    }

    /// Returns an occurrence as the series has it.
    private func plain(at start: Instant) throws -> OccurrenceContent {
        let series = try series()
        var own = OccurrenceContent(at: start, of: series)
        own.status = series.status == .tentative ? .tentative : .confirmed
        return own
    }

    /// Returns an occurrence whose contents are all taken from the changed event.
    private func occurrence(at start: Instant, as changed: Entry) throws -> OccurrenceContent {
        let series = try series()
        var own = try occurrence(at: start)
        (own.startAt, own.endAt) = try Self.instants(changed.span)
        own.status = changed.status == .tentative ? .tentative : .confirmed
        if view.level <= .titles {
            var named = series
            try named.rename(behindBeginning(changed.title), names)
            own.provider = named.provider == series.provider ? nil : named.provider
        }
        if view.level == .full {
            own.notes = changed.notes == series.notes ?? "" ? nil : changed.notes
            own.location = changed.location == series.location ?? "" ? nil : changed.location
        }
        return own
    }

    private func copy(at span: TimeSpan, of start: Instant?) throws -> any ItemContent {
        guard let appointment = content as? AppointmentContent else {
            throw InboundRefusal("Both times are kept only for an appointment.")
        }
        var copy = self
        var second = appointment
        if let start {
            let own = try occurrence(at: start)
            second.provider = own.provider ?? appointment.provider
            second.location = own.location ?? appointment.location
            second.notes = own.notes ?? appointment.notes
            second.recurrence = nil
            (second.startAt, second.endAt) = (own.startAt, own.endAt)
        }
        if second.status == .cancelled { second.status = .confirmed }
        copy.content = second
        try copy.move(to: span)
        return copy.content
    }
}

extension SeriesShift {
    /// Returns how a series repeats whose start has moved from one time to another; throws `InboundRefusal` if its rule
    /// would not give the new start, so that all occurrences but the first would stay where they are.
    fileprivate func moved(
        _ recurrence: Repetition, beginning old: Instant, now new: Instant
    ) throws -> Repetition {
        var recurrence = recurrence
        if let text = recurrence.rrule, let before = try? RecurrenceRule(text) {
            let rule = moved(before)
            guard rule.gives(to.civil(at: new)) || !before.gives(from.civil(at: old)) else {
                throw InboundRefusal("The appointment's rule has no occurrence at that time.")
            }
            if rule != before { recurrence.rrule = rule.description }
        }
        (recurrence.exdates, recurrence.rdates) = (recurrence.exdates.map(moved), recurrence.rdates.map(moved))
        return recurrence
    }
}

extension RecurrenceRule {
    /// Whether this rule gives the start of a series that begins then, whatever its end.
    fileprivate func gives(_ start: CivilDateTime) -> Bool {
        var endless = self
        (endless.count, endless.until) = (nil, nil)
        return endless.times(
            startingAt: .floating(start), from: start, through: start, startConvention: .ifItMatches,
            limits: ExpansionLimits(maximumOccurrences: 1, maximumSteps: 100_000)
        ).walls == [start]
    }
}
