// SPDX-License-Identifier: Apache-2.0

extension SyncEngine {
    /// Reads the calendars; if this does not throw, the result is complete and permission was there from start to end.
    func observe(_ work: inout RunWork) async throws(Stop) {
        try await allowed()
        do throws(StoreFailure) {
            let all = try await store.calendars()
            work.calendars = [:]
            for calendar in all { work.calendars[calendar.id] = calendar }
            try await findCalendars(&work, all)
            let watched = watched(work)
            if work.mirror != nil, await store.switchedOff().contains(.write) { work.isWriteOff = true }
            work.judge(scope: settings)
            guard !watched.isEmpty else { return }
            for piece in work.seen.years {
                if Task.isCancelled { throw .cancelled }
                for event in try await store.events(in: piece, calendars: watched) { work.local.add(event, zones) }
            }
            // If a calendar was removed during the look, its events are missing.
            let still = try await store.calendars().map(\.id)
            guard watched.allSatisfy({ still.contains($0) }) else { throw .calendarGone("") }
        } catch {
            throw .store(error)
        }
        try await allowed()
    }

    private func allowed() async throws(Stop) {
        guard await store.authorization().canSync else { throw .pause(await refusal()) }
    }

    private func watched(_ work: RunWork) -> [String] {
        var ids = work.own
        let others = [work.mirror?.id] + work.state.links.filter { $0.origin == .server }.map(\.key?.calendarID)
        for case let id? in others where work.calendars[id] != nil && !ids.contains(id) { ids.append(id) }
        return ids
    }

    /// Finds the calendars of the settings; a calendar with a new id is recognized by its title and its events.
    private func findCalendars(_ work: inout RunWork, _ all: [StoreCalendar]) async throws(StoreFailure) {
        let chosen = settings.ownCalendars + (settings.mirrorCalendar.map { [$0] } ?? [])
        for id in chosen {
            if work.calendars[id] != nil {
                work.state.calendarAliases[id] = nil
            } else if work.calendars[work.resolved(id)] == nil,
                let found = try await again(id, work, all, besides: chosen)
            {
                work.state.call(calendar: id, found.id)
            }
            guard let calendar = work.calendars[work.resolved(id)] else {
                work.pause = work.pause ?? .calendarGone
                continue
            }
            work.state.calendarTitles[id] = calendar.title
        }
        work.own = settings.ownCalendars.map { work.resolved($0) }.filter { work.calendars[$0] != nil }
        work.mirror = settings.mirrorCalendar.flatMap { work.calendars[work.resolved($0)] }
    }

    private func again(
        _ id: String, _ work: RunWork, _ all: [StoreCalendar], besides chosen: [String]
    ) async throws(StoreFailure) -> StoreCalendar? {
        guard let title = work.state.calendarTitles[id] else { return nil }
        let old = work.state.calendarAliases[id] ?? id
        let links = work.state.links.filter { $0.key?.calendarID == old }
        let names = Set(links.compactMap { $0.key.map { ByteString($0.externalID) } })
        let candidates = all.filter { calendar in
            calendar.title == title && !chosen.contains(calendar.id)
                && !work.state.calendarAliases.values.contains(calendar.id)
        }
        guard candidates.count == 1, let candidate = candidates.first, !names.isEmpty else { return nil }
        var view = LocalView()
        for piece in work.seen.years {
            for event in try await store.events(in: piece, calendars: [candidate.id]) {
                if names.contains(event.key.externalID) { return candidate }
                view.add(event, zones)
            }
        }
        // If no id is left, most of the calendar's events must be there as they were.
        let known = links.compactMap(\.local).filter { work.isInWindow($0) }
        let found = known.count { unit in
            view.events(at: zones.moment(of: unit.content.span)).contains {
                $0.unit.content.title == unit.content.title
            }
        }
        return found > 0 && found * 2 > known.count ? candidate : nil
    }
}

extension RunWork {
    /// In the first run after a change of calendars or days, missing events do not count as deleted.
    fileprivate mutating func judge(scope settings: CompanionSettings) {
        let scope = "\(own.joined(separator: ",")) \(mirror?.id ?? "") \(settings.pastDays) \(settings.futureDays)"
        // A missing event may have been moved to the calendar that is unavailable.
        judgesAbsence = state.scope == scope && pause != .calendarGone
        // Another calendar may keep what this one dropped.
        if state.scope != scope { state.unmarkingCalendar = nil }
        state.scope = scope
    }
}
