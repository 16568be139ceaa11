// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

extension ConnectionRun {
    private static let minute = 60_000
    private static let hour = 3_600_000
    private static let day = 86_400_000
    /// The longest wait after failures, in milliseconds, unless the provider or the user wants a longer one.
    private static let longestWait = 6 * hour
    /// The time after which events that cannot be removed are left in place, in milliseconds.
    private static let clearingTime = 7 * day

    /// Stores the result of a run on the run and on the connection, and when the next one is due.
    func settle(_ start: Start, _ end: End, _ opened: OpenedCalendar?) async throws {
        var record = start.record
        var failure: ProviderFailure?
        switch end {
        case .outcome(let outcome): (record, failure) = (outcome.record, outcome.failure)
        case .failure(let found):
            failure = found
            record.note(found)
            record.fail(now: context.now())
        case .fault(let sentence):
            record.note(.fault, sentence)
            record.fail(now: context.now())
        }
        let own = start.parts.connection
        context.sync.note(failure, of: own, now: context.now())
        context.sync.metrics.count(record, own.provider)
        if own.ending != nil { return try await clear(start, record, failure) }
        var isMissing = false
        if let failure, failure.kind == .calendarMissing || failure.kind == .forbidden, let opened {
            isMissing = await lacksCalendar(opened, start.parts.connection)
        }
        if record.state == .done, failure == nil, let opened { await watch(start.parts.connection, opened) }
        try await note(start, record, failure, isMissing: isMissing)
        let counts = record.counts
        if counts.created + counts.updated + counts.deleted + counts.pulled + counts.conflicts > 0 {
            try await trimRecords(to: context.settings.quotas.recordBytesPerConnection)
        }
    }

    /// Whether the account's own list no longer contains the calendar, or only as read-only. A list that cannot be
    /// fetched proves nothing.
    private func lacksCalendar(_ opened: OpenedCalendar, _ own: Connection) async -> Bool {
        guard let list = try? await opened.provider.calendars() else { return false }
        guard let found = list.first(where: { $0.id.isSameText(as: own.calendarID ?? "") }) else { return true }
        return !found.canWrite
    }

    private func note(
        _ start: Start, _ record: RunRecord, _ failure: ProviderFailure?, isMissing: Bool
    ) async throws {
        let (now, holder) = (context.now(), context.sync.holder)
        let interval = start.parts.configuration.syncIntervalMinutes * Self.minute
        let stretch = context.sync.stretch(start.parts.connection.provider)
        // Nobody else settles conflicts while this run has the lease.
        let undecided = try await context.undecidedItems(of: start.parts.connection)
        let isCalm = record.state == .done && record.status == .success && failure == nil
        // The request for an undo replaced those that changes on either side made meanwhile, so the next run is due at once.
        let isUndo = start.pendingRun?.kind == .undo && failure == nil
        try await storing(requestsOf: start) { transaction in
            guard var own = try transaction.connectionEverKnown(id),
                try transaction.takeSyncLease(of: id, for: holder, until: now + 1, now: now)
            else { return }
            try transaction.keep(record, of: id, now: now)
            if let pendingRun = start.pendingRun { try transaction.deletePendingSync(pendingRun) }
            try transaction.endSyncLease(of: id, for: holder)
            // The calendar was replaced, or the connection was ended, while the run was finishing.
            guard own.ending == nil, own.calendarID == start.parts.connection.calendarID else { return }
            let before = own
            if own.provider == .apple { try transaction.noteConflicts(undecided, of: own, now: now) }
            var channel = try transaction.syncChannels(of: id).first
            if var silent = channel, PollSchedule.wasMissed(record.counts, silent, lastLook: before.lastSyncAt) {
                silent.lastHeardAt = nil
                try transaction.putSyncChannel(silent)
                channel = silent
            }
            let every = PollSchedule.every(interval, channel, isCalm: isCalm, now: now)
            own.lookEvery = every
            let gap = isUndo ? 0 : PollSchedule.gap(every, interval, channel, stretch: stretch, now: now)
            own.note(record, failure, isMissing: isMissing, interval: gap, now: now)
            // Somebody resumed or changed the connection while the run was under way.
            if own.state == .active, let asked = before.nextSyncAt, asked != start.parts.connection.nextSyncAt {
                own.nextSyncAt = min(own.nextSyncAt ?? asked, asked)
            }
            if record.state != .held { try transaction.noteOfficeProblem(failure, of: own, now: now) }
            let isNews =
                own.state != before.state || own.lastSyncStatus != before.lastSyncStatus
                || own.lastSyncError != before.lastSyncError || start.record.held != record.held
            if isNews {
                own.updatedAt = now
                try transaction.putConnection(own, .updated, now: now)
            } else {
                try transaction.recordConnection(own)
            }
        }
    }

    /// Stores what a run sent to its provider, together with its result.
    private func storing(
        requestsOf start: Start, _ body: @escaping @Sendable (any WriteTransaction) throws -> Void
    ) async throws {
        let (own, now) = (start.parts.connection, context.now())
        let sent = context.sync.requests.take(own)
        var counts = sent
        // Without a wish it was a regular look.
        if start.pendingRun == nil, own.lastSyncAt != nil { (counts.looks, counts.lookRequests) = (1, sent.requests) }
        do {
            try await context.store.record { [counts] transaction in
                try transaction.addRequests(counts, of: own.id, by: own.provider, now: now)
                try body(transaction)
            }
        } catch {
            context.sync.requests.giveBack([RequestSource(own): sent])
            throw error
        }
    }

    /// Removes the oldest records until the rest has at most this many bytes.
    private func trimRecords(to bytes: Int) async throws {
        try await context.store.recordRepeatedly { try $0.trimSyncRecords(of: id, to: bytes, limit: $1) }
    }

    // MARK: The end of a connection

    /// Removes a connection after its last run, or when a further run cannot succeed.
    private func clear(_ start: Start, _ record: RunRecord, _ failure: ProviderFailure?) async throws {
        let (now, own) = (context.now(), start.parts.connection)
        // One answer that the calendar is missing, or that something is forbidden, proves nothing.
        let isHopeless = failure?.kind == .unauthorized
        let isOver = record.state == .done && record.status == .success || isHopeless
        guard isOver || now - (own.endingAt ?? 0) > Self.clearingTime else {
            let wait = Self.wait(after: own.failures + 1, failure, longest: Self.longestWait)
            let holder = context.sync.holder
            return try await context.store.record { transaction in
                guard var own = try transaction.connectionEverKnown(id) else { return }
                try transaction.keep(record, of: id, now: now)
                own.failures += 1
                own.nextSyncAt = now + wait
                try transaction.recordConnection(own)
                try transaction.endSyncLease(of: id, for: holder)
            }
        }
        await context.calendars.release(own)
        try await context.store.record { try $0.deleteConnection(id, now: now) }
        await context.tidying.afterDeleting(connection: id)
    }

    /// Returns the wait in milliseconds: a minute, doubled with each failure and varied by a fifth; never less than the
    /// provider asks for.
    static func wait(after failures: Int, _ failure: ProviderFailure?, longest: Int) -> Int {
        var least = 0
        switch failure?.kind {
        case .busy(let seconds): least = seconds * 1000
        case .throttled(let seconds), .unavailable(let seconds): least = min(max(seconds ?? 0, 0), 86_400) * 1000
        case .quotaExceeded, .misconfigured: least = hour
        default: break
        }
        let wait = min(longest, minute << min(max(0, failures - 1), 12))
        return max(wait / 1000 * Int.random(in: 800...1200), least)
    }
}

extension RunRecord {
    fileprivate mutating func fail(now: Int) {
        (state, status, endedAt) = (.failed, .failed, Instant(milliseconds: now))
    }
}

extension Connection {
    /// Takes over the result of a run, and sets when the next one is due.
    fileprivate mutating func note(
        _ record: RunRecord, _ failure: ProviderFailure?, isMissing: Bool, interval: Int, now: Int
    ) {
        if record.state != .held {
            lastSyncAt = now
            lastSyncStatus = record.status.flatMap { Outcome(rawValue: $0.rawValue) }
            lastSyncError = record.error
        }
        if failure?.kind == .unauthorized { return turn(to: .needsReconnect, now: now) }
        if isMissing {
            let since = missingSince ?? now
            missingSince = since
            if now - since >= 86_400_000 { return turn(to: .calendarGone, now: now) }
            failures += 1
            nextSyncAt = now + max(interval, 6 * 3_600_000)
            return
        }
        if failure == nil { missingSince = nil }
        let hasFailed = record.state == .failed || record.status == .failed
        failures = hasFailed ? failures + 1 : 0
        // The interval varies by a twentieth, so that connections that began together drift apart.
        let regular = interval / 1000 * Int.random(in: 950...1050)
        if hasFailed {
            nextSyncAt = now + ConnectionRun.wait(after: failures, failure, longest: max(interval, 6 * 3_600_000))
        } else if let failure {
            nextSyncAt = now + max(regular, ConnectionRun.wait(after: 1, failure, longest: interval))
        } else {
            nextSyncAt = now + regular
        }
        // A connection that a phone carries runs when the phone asks.
        if state != .active || provider == .apple && !hasFailed { nextSyncAt = nil }
    }
}
