// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
package import Logging
import Outbound
import ServiceLifecycle
import Storage

/// Fetches the calendars that circles follow when they are due, a few at a time.
package struct SubscriptionRefresh: Service {
    let context: ImportContext
    package let logger: Logger

    private static let pause = Duration.seconds(5)
    /// The places for calendars that are being fetched: two of one user, and at one host no more than a third.
    private static let places = FairPool.Size(bytes: 0, slots: 12, slotsPerPerson: 2)
    /// How many due subscriptions are looked at together.
    private static let page = 256
    /// The longest wait after failures, in milliseconds, unless the user or the host wants a longer one.
    private static let day = 86_400_000

    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await logger.repeatedly(every: Self.pause, failure: "subscriptions cannot be refreshed") {
                try await once()
            }
        } onCancelOrGracefulShutdown: {
            context.refreshes.cancel()
        }
    }

    /// Refreshes all subscriptions that are due, and those that become due in the meantime: each place is taken again as soon
    /// as it is free, so that nobody waits for a slow host that another user follows.
    func once() async throws {
        let (places, shards) = (FairPool(Self.places, busy: "Many calendars are being fetched."), context.leases.shards)
        try await withThrowingTaskGroup(of: DueSubscription?.self) { group in
            var (waiting, underWay) = ([DueSubscription](), Set<ByteString>())
            group.addTask { try await Self.look() }
            while true {
                if waiting.isEmpty {
                    let (now, open, limit) = (context.now(), shards.open, underWay.count + Self.page)
                    waiting = try await context.store.read { try $0.dueSubscriptions(now: now, in: open, limit: limit) }
                    waiting.removeAll { underWay.contains($0.id) }
                }
                waiting.removeAll { own in
                    guard let place = try? places.enter(own.sender) else { return false }
                    underWay.insert(ByteString(own.id))
                    group.addTask {
                        defer { withExtendedLifetime(place) {} }
                        _ = try await shards.work(of: own.circleID) { try await refreshOrPostpone(own) }
                        return own
                    }
                    return true
                }
                if underWay.isEmpty { return group.cancelAll() }
                if let ended = try await group.next().flatMap(\.self) {
                    underWay.remove(ByteString(ended.id))
                } else {
                    waiting = []
                    group.addTask { try await Self.look() }
                }
            }
        }
    }

    /// Ends when others may have become due.
    private static func look() async throws -> DueSubscription? {
        try await Task.sleep(for: pause)
        return nil
    }

    /// Refreshes a subscription; if that fails on this server, it is tried again later, not immediately.
    private func refreshOrPostpone(_ due: DueSubscription) async throws {
        let id = due.id
        do {
            try await refresh(id, for: due.sender)
        } catch {
            if error is CancellationError { throw error }
            // Another server has taken over the refresh.
            if case StorageError.leaseLost = error { throw error }
            try Task.checkCancellation()
            let now = context.now()
            if let refusal = error as? Refusal, refusal.isOfTheMoment {
                // The calendar is not at fault: the server has no room for a file at present.
                return try await context.store.record { transaction in
                    guard var own = try transaction.subscription(id) else { return }
                    own.nextAt = now + Self.spread(60_000)
                    try transaction.putSubscription(own)
                }
            }
            logger.error("a calendar cannot be kept", metadata: ["error": "\(publicText(error))"])
            try await context.store.record { transaction in
                guard var own = try transaction.subscription(id) else { return }
                Self.postpone(
                    &own, .fault, "The calendar could not be stored. The server's log has the details.", now: now)
                try transaction.putSubscription(own)
            }
        }
    }

    /// The result of a fetch.
    private enum Outcome: Sendable {
        case unchanged
        case calendar(ImportReading, FetchValidators)
        case problem(Subscription.Problem, String, retryAfter: Int? = nil, isGone: Bool = false)
    }

    /// Fetches a calendar now and notes the result; nil when the subscription no longer exists.
    ///
    /// If the calendar is already being fetched, both callers get the one result. Throws 429 or 503 when there is no
    /// room for a file.
    ///
    /// - Parameter sender: the sender whose quota the bytes count against.
    @discardableResult
    func refresh(_ id: String, for sender: Sender) async throws -> Subscription? {
        try await context.refreshes.refresh(id) {
            try await context.leases.alone("subscription/\(id)") {
                try await fetchAndNote(id, context.intake.files.enter(sender))
            }
        }
    }

    private func fetchAndNote(_ id: String, _ admission: FairPool.Holding) async throws -> Subscription? {
        let found: (Subscription, Circle)? = try await context.store.read { transaction in
            guard let own = try transaction.subscription(id), let circle = try transaction.circle(own.circleID) else {
                return nil
            }
            return (own, circle)
        }
        guard let (own, circle) = found else { return nil }
        switch try await fetch(own, circle, admission) {
        case .unchanged:
            return try await note(id) { own, now in
                Self.settle(&own, now: now)
                return false
            }
        case .problem(let problem, let sentence, let retryAfter, let isGone):
            return try await note(id) { own, now in
                Self.postpone(&own, problem, sentence, retryAfter: retryAfter, now: now)
                if isGone { own.state = .failed }
                return isGone
            }
        case .calendar(let reading, let validators):
            do {
                return try await keep(reading, validators, id, in: circle.id)
            } catch let refusal as Refusal {
                return try await note(id) { own, now in
                    Self.postpone(&own, Subscription.Problem(refusal), refusal.detail, now: now)
                    return false
                }
            }
        }
    }

    /// Notes the result of a fetch that changes no event.
    ///
    /// - Parameter change: returns whether it changed a part of the subscription that others see.
    private func note(
        _ id: String, _ change: @escaping @Sendable (inout Subscription, _ now: Int) -> Bool
    ) async throws -> Subscription? {
        let now = context.now()
        return try await context.store.write { transaction in
            guard var own = try transaction.subscription(id), try transaction.circle(own.circleID) != nil else {
                return nil
            }
            transaction.concerns(circle: own.circleID)
            if change(&own, now) {
                try transaction.note(.subscription, .updated, in: own.circleID, id: id, now: now)
            }
            try transaction.putSubscription(own)
            return own
        }
    }

    /// Updates the circle's events to match a calendar; readers see all changes at once.
    private func keep(
        _ reading: ImportReading, _ validators: FetchValidators, _ id: String, in circleID: String
    ) async throws -> Subscription? {
        try await context.turns.alone(in: circleID) {
            try await EventStaging.discard(in: circleID, context.store)
            let found: (Subscription, Circle, Int)? = try await context.store.read { transaction in
                guard let own = try transaction.subscription(id), let circle = try transaction.circle(circleID) else {
                    return nil
                }
                return (own, circle, try transaction.eventCount(ofSubscription: id))
            }
            guard let (own, circle, count) = found else { return nil }
            let isEmpty = reading.summary.events == 0
            // Hosts with problems send empty calendars, so the first one removes nothing.
            if isEmpty, own.emptyAnswers == 0, count > 0 {
                return try await note(id) { own, now in
                    own.emptyAnswers = 1
                    Self.settle(&own, now: now)
                    (own.problem, own.lastProblem) = (
                        .empty, "The calendar came without events; they are removed when it comes without events again."
                    )
                    (own.etag, own.lastModified) = (nil, nil)
                    return false
                }
            }
            let update = try await SubscriptionUpdate(context: context, own: own).stage(reading, in: circle)
            do {
                let now = context.now()
                let noted = try await context.store.write { transaction -> Subscription? in
                    guard var own = try transaction.subscription(id) else { return nil }
                    transaction.concerns(circle: circleID)
                    own.emptyAnswers = isEmpty ? own.emptyAnswers + 1 : 0
                    Self.settle(&own, now: now)
                    (own.etag, own.lastModified) = (validators.etag, validators.lastModified)
                    own.validatorsOf = validators.source
                    if update.hasChanges {
                        try update.staging.publish(in: transaction, within: context.settings.eventLimits, now: now)
                        (own.created, own.updated, own.deleted) = (update.created, update.updated, update.deleted)
                        own.lastChangedAt = now
                        try transaction.note(.subscription, .updated, in: circleID, id: id, now: now)
                    }
                    try transaction.putSubscription(own)
                    return own
                }
                if noted == nil { try await update.staging.discard() }
                context.tidying.afterUpdate(in: circleID)
                return noted
            } catch {
                try? await update.staging.discard()
                throw error
            }
        }
    }

    private func fetch(
        _ own: Subscription, _ circle: Circle, _ admission: FairPool.Holding
    ) async throws -> Outcome {
        do {
            guard let text = try? context.sealingKey.open(own.sealedURL, for: Self.purpose(own.id)) else {
                return .problem(.sealed, "The address was sealed with a key other than the server's.")
            }
            let url = try PublicURL(text, allowsHTTP: context.fetcher.rules.allowsHTTP)
            let validators = own.validatorsOf.map {
                FetchValidators(etag: own.etag, lastModified: own.lastModified, source: $0)
            }
            try HeldLeases.check()
            let download = try await context.fetcher.attempt(
                url, validators, for: admission, asker: own.sender.caller)
            guard case .calendar(let calendar) = download else { return .unchanged }
            let upload = calendar.upload
            let reading = try await context.reader.read(upload, in: circle) { _ in }
            if reading.summary.problems.contains(where: { $0.code == "missing-end" }), try !Self.isWhole(upload.spool) {
                return .problem(.broken, "The calendar broke off before its end.")
            }
            let had = try await context.store.read { try $0.eventCount(ofSubscription: own.id) }
            if reading.summary.events > had {
                // This does not count against a user's quota, since the server fetches the calendar by itself.
                let quota = ImportQuota(context, for: .user(own.createdBy ?? ""), circle: circle.id)
                try await quota.check(events: reading.summary.events)
            }
            return .calendar(reading, calendar.validators)
        } catch let failure as OutboundFailure {
            return .problem(
                Subscription.Problem(failure), failure.message, retryAfter: failure.retryAfter,
                isGone: failure.kind == .status(410))
        } catch let refusal as Refusal where !refusal.isOfTheMoment {
            return .problem(Subscription.Problem(refusal), refusal.detail)
        }
    }

    /// Whether the last line is the end of a calendar; a broken connection may leave no other sign.
    private static func isWhole(_ spool: Spool) throws -> Bool {
        let count = spool.count
        let tail = try spool.read(max(0, count - 64)..<count).filter { $0 > 32 }
        return String(decoding: tail, as: UTF8.self).uppercased().hasSuffix("END:VCALENDAR")
    }

    private static func postpone(
        _ own: inout Subscription, _ problem: Subscription.Problem, _ sentence: String, retryAfter: Int? = nil, now: Int
    ) {
        let usual = own.refreshMinutes * 60_000
        own.failures += 1
        (own.problem, own.lastProblem) = (problem, sentence)
        let doubled = min(usual << min(own.failures - 1, 10), max(usual, day))
        own.nextAt = now + spread(max(doubled, (retryAfter ?? 0) * 1000))
    }

    private static func settle(_ own: inout Subscription, now: Int) {
        own.failures = 0
        (own.problem, own.lastProblem) = (nil, nil)
        own.lastFetchedAt = now
        own.nextAt = now + spread(own.refreshMinutes * 60_000)
    }

    /// Adds up to a tenth, so that calendars of one host are not all requested at the same time.
    private static func spread(_ milliseconds: Int) -> Int { milliseconds + Int.random(in: 0...milliseconds / 10) }

    package static func purpose(_ id: String) -> String { "subscription/\(id)/url" }
}

extension DueSubscription {
    fileprivate var sender: Sender { .follower(createdBy, circleID, host) }
}

extension Subscription {
    fileprivate var sender: Sender { .follower(createdBy, circleID, host) }
}

extension Subscription.Problem {
    fileprivate init(_ failure: OutboundFailure) {
        self =
            switch failure.kind {
            case .address: .address
            case .unreachable: .unreachable
            case .untrusted: .untrusted
            case .timeout: .timeout
            case .redirects: .redirects
            case .garbled: .garbled
            case .status(401), .status(407): .signIn
            case .status(404), .status(410): .missing
            case .status: .status
            case .tooLarge: .tooLarge
            }
    }

    /// - Parameter refusal: why a file was not accepted.
    fileprivate init(_ refusal: Refusal) {
        self =
            switch (refusal.kind, refusal.code) {
            case (.tooLarge, _): .tooLarge
            case (_, .limitReached): .full
            default: .unreadable
            }
    }
}

extension Sender {
    /// Whoever named the address of a calendar that is followed: a user, or the host application for a circle.
    fileprivate static func follower(_ user: String?, _ circle: String, _ host: String) -> Sender {
        Sender(user: user ?? "of circle \(circle)", host: ByteString(host))
    }
}

extension Refusal {
    /// Whether the same file may be accepted a little later.
    fileprivate var isOfTheMoment: Bool { kind == .unavailable || kind == .tooMany }
}
