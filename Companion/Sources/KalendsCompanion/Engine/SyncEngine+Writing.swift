// SPDX-License-Identifier: Apache-2.0

extension SyncEngine {
    /// Writes to the calendars in batches; the events of a failed batch are tried one by one.
    func write(_ work: inout RunWork) async throws(Stop) {
        let planIndexes = work.plans.indices.filter { work.plans[$0].write != nil }
        if work.isWriteOff {
            // Something that the person switched off is not a failure, and does not keep anything from being sent to
            // the server.
            for index in planIndexes { work.postpone(index) }
            work.pause = work.pause ?? .switchedOff
            return
        }
        for first in stride(from: 0, to: planIndexes.count, by: max(1, settings.batch)) {
            try Self.check()
            let batch = work.withoutUnmarking(
                planIndexes[first..<min(first + max(1, settings.batch), planIndexes.count)])
            if try await !write(batch, &work), batch.count > 1 {
                for index in batch where work.plans[index].write != nil { _ = try await write([index], &work) }
            }
            try await save(work.state)
        }
    }

    /// - Returns: whether the batch is in the calendar; an event that cannot be written is noted and left out.
    private func write(_ batch: [Int], _ work: inout RunWork) async throws(Stop) -> Bool {
        var tickets: [(planIndex: Int, ticket: SaveTicket?)] = []
        do throws(StoreFailure) {
            for index in batch {
                do throws(StoreFailure) {
                    guard let ticket = try await prepare(work.plans[index], work) else {
                        work.postpone(index)
                        continue
                    }
                    tickets.append((index, ticket.saved))
                } catch {
                    guard work.takes(error, at: index) else { throw error }
                }
            }
            guard !tickets.isEmpty else { return true }
            // The previous values are stored before they are replaced, in case the program ends during the write.
            for (index, _) in tickets { work.intend(index) }
            guard (try? await states.save(work.state)) != nil else { throw .temporary("memory") }
            let saved = try await store.commit()
            var stop: StoreFailure?
            var unmarked: [EventKey] = []
            for (index, ticket) in tickets {
                switch ticket.flatMap({ saved[$0] }) {
                case .success(let event)? where work.lostMark(index, event): unmarked.append(event.key)
                case .success(let event)?: work.wrote(index, event)
                case nil: work.wrote(index, nil)
                // An event that may be in the calendar in part is not created again until the calendars have been read.
                case .failure(let failure)?: if !work.takes(failure, at: index) { stop = failure }
                }
            }
            if !unmarked.isEmpty { try await takeBack(unmarked) }
            if let stop { throw stop }
            return true
        } catch {
            await store.rollback()
            switch error {
            case .notAuthorized, .calendarGone, .cancelled: throw .store(error)
            default: break
            }
            if batch.count == 1, !work.takes(error, at: batch[0]) { work.postpone(batch[0]) }
            return false
        }
    }

    /// Removes events that were made a moment ago and have no mark: nobody could tell that they are ours.
    private func takeBack(_ keys: [EventKey]) async throws(StoreFailure) {
        for key in keys { try await store.remove(key) }
        _ = try await store.commit()
    }

    private struct Prepared {
        var saved: SaveTicket?
    }

    /// - Returns: nil when the event has changed since it was read.
    private func prepare(_ plan: SyncPlan, _ work: RunWork) async throws(StoreFailure) -> Prepared? {
        guard let write = plan.write, let link = work.state.links.first(where: { $0.number == plan.link }) else {
            return nil
        }
        if let event = plan.event {
            // Saving an event that somebody deleted would restore it, and saving one that somebody edited would undo
            // the edit.
            guard let fresh = try await store.event(localID: event.key.localID), fresh.key == event.key,
                fresh.url == event.url, fresh.lastModified == event.lastModified,
                fresh.unit.content.withoutExceptions == event.unit.content.withoutExceptions,
                work.isOurs(fresh, for: link)
            else { return nil }
        }
        switch write {
        case .remove:
            guard let event = plan.event else { return nil }
            try await store.remove(event.key)
            return Prepared()
        case .change(let unit):
            guard let event = plan.event else { return nil }
            let draft = EventDraft(key: event.key, calendarID: event.key.calendarID, unit: unit, url: nil)
            return Prepared(saved: try await store.save(draft))
        case .create(let unit):
            guard let mirror = work.mirror, let view = plan.view else { return nil }
            let draft = EventDraft(
                key: nil, calendarID: mirror.id, unit: unit,
                url: work.address(of: view, generation: link.generation))
            return Prepared(saved: try await store.save(draft))
        }
    }
}

extension EventContent {
    fileprivate var withoutExceptions: EventContent {
        var content = self
        content.recurrence?.exceptions = []
        return content
    }
}

extension RunWork {
    private mutating func change(_ number: Int, _ body: (inout Link) -> Void) {
        guard let index = state.links.firstIndex(where: { $0.number == number }) else { return }
        body(&state.links[index])
    }

    /// Notes what is about to be written, and the previous value.
    fileprivate mutating func intend(_ index: Int) {
        let plan = plans[index]
        guard let write = plan.write, let link = state.links.first(where: { $0.number == plan.link }) else { return }
        let (action, after): (JournalEntry.Action, EventUnit?) =
            switch write {
            case .create(let unit): (.created, unit)
            case .change(let unit): (.changed, unit)
            case .remove: (.removed, nil)
            }
        state.noteOnce(action, of: link, at: now, before: plan.unit, after: after)
    }

    /// Leaves out events that would be made in a calendar that drops marks.
    fileprivate mutating func withoutUnmarking(_ planIndexes: ArraySlice<Int>) -> [Int] {
        guard let id = state.unmarkingCalendar, id == mirror?.id else { return Array(planIndexes) }
        return planIndexes.filter { index in
            guard case .create? = plans[index].write else { return true }
            postpone(index)
            return false
        }
    }

    /// Notes that an event was read back without its mark.
    ///
    /// - Returns: whether the event was a new one, which must not stay.
    fileprivate mutating func lostMark(_ index: Int, _ saved: StoreEvent) -> Bool {
        let plan = plans[index]
        guard let link = state.links.first(where: { $0.number == plan.link }), link.origin == .server,
            !isOurs(saved, for: link)
        else { return false }
        pause = pause ?? .marksNotKept
        guard case .create? = plan.write else { return false }
        state.unmarkingCalendar = mirror?.id
        postpone(index)
        return true
    }

    /// Leaves the plan to the next run, which reads the calendars again.
    fileprivate mutating func postpone(_ index: Int) {
        counts.queued += 1
        plans[index].write = nil
        plans[index].sending = nil
    }

    /// Whether the failure concerns only this event; if so, the failure is noted.
    fileprivate mutating func takes(_ failure: StoreFailure, at index: Int) -> Bool {
        switch failure {
        case .eventGone, .changedMeanwhile, .temporary:
            postpone(index)
            return true
        case .invalid, .readOnly:
            let write = plans[index].write
            change(plans[index].link) { link in
                switch write {
                case .create(let unit), .change(let unit):
                    link.unwritable = Link.Refused(unit: unit, reasons: [failure.reason])
                default: break
                }
            }
            counts.failed += 1
            plans[index].write = nil
            plans[index].sending = nil
            return true
        case .notAuthorized, .calendarGone, .cancelled: return false
        }
    }

    /// Stores the result of a write: the calendar's form of the event becomes its side of the agreed state.
    fileprivate mutating func wrote(_ index: Int, _ saved: StoreEvent?) {
        let plan = plans[index]
        guard let write = plan.write, let number = state.links.firstIndex(where: { $0.number == plan.link }) else {
            return
        }
        plans[index].write = nil
        var link = state.links[number]
        switch write {
        case .remove:
            counts.removed += 1
            state.deletions.append(now)
            link.key = nil
        case .create, .change:
            guard let saved else {
                plans[index].sending = nil
                return
            }
            if case .create = write { counts.made += 1 } else { counts.changed += 1 }
            let base = plan.unit ?? plan.remote
            let unit = saved.unit.completed(by: base, outside: saved.known, zones).canonical(zones)
            link.key = saved.key
            link.unwritable = nil
            plans[index].event = saved
            plans[index].unit = unit
            if case .event(let sent)? = plan.sending, sent != plan.remote {
                // The difference from the server's version still has to be sent.
                (link.local, link.remote) = (plan.remote, plan.remote)
            } else {
                (link.local, link.remote) = (unit, plan.remote)
            }
        }
        if plan.ends { state.links.remove(at: number) } else { state.links[number] = link }
    }
}

extension StoreFailure {
    /// The kind of the failure, without any data of an event.
    var reason: String {
        switch self {
        case .invalid(let reason): reason
        case .readOnly: "readOnly"
        case .temporary: "temporary"
        case .notAuthorized: "notAuthorized"
        case .calendarGone: "calendarGone"
        case .eventGone: "eventGone"
        case .changedMeanwhile: "changedMeanwhile"
        case .cancelled: "cancelled"
        }
    }
}
