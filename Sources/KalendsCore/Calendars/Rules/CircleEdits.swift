// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// What a calendar app's text changes of an item: what an app may change is taken, and the rest stays as it is.
struct CircleEdits {
    let seen: SeenItem
    let look: PersonalLook
    /// Whether the person may manage the circle, and so move shifts.
    let mayManage: Bool
    /// The maximum number of occurrences that may be changed at once.
    let most: Int

    /// Returns what to store of the item; throws `Refusal` for what no request could store.
    ///
    /// - Parameters:
    ///   - sent: what the app's text says.
    ///   - plain: the item's text as it was, without anybody's parts.
    func plan(_ sent: ClientResource, replacing plain: [UInt8]) throws -> InboundPlan {
        let known = ClientResource(plain, floatingZone: look.zone.identifier)
        var work = try InboundEdits(seen.item, seen.occurrences, look.names, look.view)
        if let task = sent.task {
            try take(task, insteadOf: known.task, &work)
        } else if sent.isCancelled {
            if !work.content.isCancelled { try attempt(.cancelled, &work) }
        } else if let entry = sent.entry {
            let before = try known.entry ?? Entry(look.events(of: seen), in: work.content.zone(or: look.zone))
            if let before = before?.canonical {
                for edit in try bounded(before.edits(to: entry)) {
                    if let allowed = allowed(edit, of: work.content, before) { try attempt(allowed, &work) }
                }
            }
        }
        return try InboundPlan(work, seen)
    }

    /// Throws `Refusal` for edits that give a series more changed occurrences than it may have.
    private func bounded(_ edits: [InboundChange.Edit]) throws -> [InboundChange.Edit] {
        let stored = Set(seen.occurrences.map(\.originalStart))
        let new = edits.reduce(into: Set<Instant>()) { new, edit in
            switch edit {
            case .occurrence(let start, _), .occurrenceCancelled(let start):
                if !stored.contains(start.basic) { new.insert(start) }
            default: break
            }
        }
        guard new.count <= most else { throw Refusal.quota("A series has", most, "changed occurrences") }
        return edits
    }

    /// Takes an edit, unless the item cannot be changed in this way.
    private func attempt(_ edit: InboundChange.Edit, _ work: inout InboundEdits) throws {
        do {
            switch edit {
            case .occurrence, .occurrenceTimes, .occurrenceCancelled, .occurrenceRestored:
                // It leaves everything as it was if it fails; a copy of all occurrences for each of thousands takes long.
                try work.take(edit)
            default:
                var changed = work
                try changed.take(edit)
                // A move for which a series has no rule, or to no time at all, is put back by itself.
                if case .times = edit { _ = try InboundPlan(changed, seen) }
                work = changed
            }
        } catch is InboundRefusal {
            return
        } catch let refusal as Refusal where refusal.kind == .invalid {
            return
        }
    }

    /// Returns what an app may change of an edit; nil for nothing.
    private func allowed(
        _ edit: InboundChange.Edit, of content: any ItemContent, _ before: Entry
    ) -> InboundChange.Edit? {
        guard content is AppointmentContent else {
            switch edit {
            case .notes: return edit
            case .times: return mayManage || content is any DueContent ? edit : nil
            default: return nil
            }
        }
        switch edit {
        case .times, .notes, .location, .occurrenceTimes, .occurrenceCancelled, .occurrenceRestored, .cancelled:
            return edit
        case .repetition(let repetition):
            guard let repetition, before.isCut(to: repetition),
                let own = (content as? AppointmentContent)?.recurrence
            else { return nil }
            return .repetition(
                Repetition(rrule: repetition.rrule, exdates: own.exdates, rdates: repetition.rdates))
        case .occurrence(let start, var changed):
            // The title is made from the patient and the provider.
            let now = before.effective(at: start)
            changed.title = now?.title ?? before.title
            changed.status = now?.status ?? .confirmed
            return .occurrence(start, changed)
        case .title, .status, .reminders, .availability, .copy: return nil
        }
    }

    /// Takes what a to-do says; it has no place, and how long it takes stays as it is.
    private func take(
        _ sent: ClientResource.Task, insteadOf known: ClientResource.Task?, _ work: inout InboundEdits
    ) throws {
        guard var content = work.content as? any DueContent else { return }
        if sent.progress != known?.progress { content.status = DueStatus(sent.progress) }
        if sent.due != known?.due {
            if sent.due != nil || type(of: content).mayBeUndated { content.setDue(sent.due) }
        }
        if sent.notes != known?.notes { content.notes = sent.notes.isEmpty ? nil : sent.notes }
        work.replace(content)
        if sent.title != known?.title, !sent.title.allSatisfy(\.isWhitespace) { try attempt(.title(sent.title), &work) }
    }
}

extension DueStatus {
    init(_ progress: ClientResource.Task.Progress) {
        switch progress {
        case .open: self = .open
        case .completed: self = .completed
        case .cancelled: self = .cancelled
        }
    }
}

/// An item that a calendar app makes.
struct NewCircleItem {
    let content: any ItemContent
    /// Occurrences of a series that differ from it.
    private(set) var edits: [InboundChange.Edit] = []

    /// - Parameters:
    ///   - patients: those of the circle who have not left.
    ///   - look: how its person sees the circle.
    init(_ sent: ClientResource, patients: [Patient], _ look: PersonalLook) throws(CollectionFault) {
        let named = patients.named(in: sent.categories)
        if let task = sent.task {
            guard !task.repeats else {
                throw .invalidData(
                    Sentence(
                        .taskRepeats,
                        "A circle's tasks do not repeat. A calendar of your own can have a task that repeats."))
            }
            var content = TaskContent()
            content.title = task.title.removingPrefix(look.beginning(content)).removingPrefix(
                look.beginning(FollowUpContent()))
            guard !content.title.allSatisfy(\.isWhitespace) else { throw .invalidData(.titleNeeded) }
            (content.dueAt, content.status) = (task.due, DueStatus(task.progress))
            content.notes = task.notes.isEmpty ? nil : task.notes
            content.patientID = named.first?.id
            self.content = content
            return
        }
        if let reason = sent.unread { throw .invalidData(Sentence(ofOthers: reason)) }
        guard let entry = sent.entry, case .timed(let start, let end, let name) = entry.span else {
            throw .invalidData(
                Sentence(.appointmentTime, "An appointment must have a time of day and take place."))
        }
        var content = AppointmentContent()
        // An app that copies an entry, or cuts a series in two, takes over the title that is made here.
        let title = entry.title.removingPrefix(look.beginning(content))
        let titled = patients.filter { title.hasPrefix(AppointmentContent.titleBeginning($0.displayName)) }
            .max { $0.displayName.utf8.count < $1.displayName.utf8.count }
        guard let patient = named.first ?? titled ?? (patients.count == 1 ? patients.first : nil) else {
            let all = patients.map(\.displayName).joined(separator: ", ")
            throw .invalidData(
                Sentence(
                    .appointmentPatient,
                    "An appointment must belong to a patient, whose name is among its categories: \(all, .names)."))
        }
        content.patient = patient.id
        content.provider = title.removingPrefix(AppointmentContent.titleBeginning(patient.displayName))
        guard !content.provider.allSatisfy(\.isWhitespace) else { throw .invalidData(.titleNeeded) }
        (content.startAt, content.endAt) = (start, max(end, start.adding(seconds: 60)))
        content.status = entry.status == .tentative ? .tentative : .confirmed
        content.location = entry.location.isEmpty ? nil : entry.location
        content.notes = entry.notes.isEmpty ? nil : entry.notes
        if !["UTC", "Etc/UTC", "GMT", look.zone.identifier].contains(name), let own = TimeZoneReference(name) {
            content.timeZone = own.identifier
        }
        content.recurrence = entry.repetition
        self.content = content
        guard content.recurrence != nil else { return }
        for (start, occurrence) in entry.occurrences.sorted(by: { $0.key < $1.key }) {
            guard case .changed(let changed) = occurrence else { continue }
            edits.append(.occurrence(start, changed))
        }
    }
}

extension Sentence {
    fileprivate static let titleNeeded = Sentence(.titleNeeded, "It has no title.")
}
