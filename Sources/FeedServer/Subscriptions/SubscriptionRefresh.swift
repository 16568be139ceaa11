// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import Logging
import ServiceLifecycle
import Storage

/// Fetches the calendars that circles follow when their time has come, a few at once.
struct SubscriptionRefresh: Service {
    let services: Services
    let logger: Logger

    private static let pause = Duration.seconds(5)
    private static let places = 4
    /// Milliseconds: the longest wait after failures, unless the user or the host wants a longer one.
    private static let day = 86_400_000

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await once()
                } catch is CancellationError {
                    break
                } catch {
                    logger.error("subscriptions cannot be refreshed", metadata: ["error": "\(publicText(error))"])
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Refreshes all that are due.
    func once() async throws {
        while true {
            let now = services.now()
            let due = try await services.store.read { try $0.dueSubscriptions(now: now, limit: Self.places) }
            if due.isEmpty { return }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in due { group.addTask { try await refreshOrPostpone(id) } }
                try await group.waitForAll()
            }
        }
    }

    /// As `refresh`, but what fails here is no reason to ask the host again and again.
    private func refreshOrPostpone(_ id: String) async throws {
        do {
            try await refresh(id)
        } catch {
            try Task.checkCancellation()
            logger.error("a calendar cannot be kept", metadata: ["error": "\(publicText(error))"])
            let now = services.now()
            try await services.store.record { transaction in
                guard var own = try transaction.subscription(id) else { return }
                Self.postpone(&own, "The calendar could not be kept; the server's log tells more.", now: now)
                try transaction.putSubscription(own)
            }
        }
    }

    /// What a fetch came to.
    private enum Outcome: Sendable {
        case unchanged
        case calendar(ImportReading, FetchValidators)
        case problem(String, retryAfter: Int? = nil, isGone: Bool = false)
    }

    /// Fetches one now and notes what came of it; nil when it is no longer there.
    @discardableResult
    func refresh(_ id: String) async throws -> Subscription? {
        let found: (Subscription, Circle)? = try await services.store.read { transaction in
            guard let own = try transaction.subscription(id), let circle = try transaction.circle(own.circleID) else {
                return nil
            }
            return (own, circle)
        }
        guard let (own, circle) = found else { return nil }
        let outcome = try await fetch(own, circle)
        let now = services.now()
        return try await services.store.write { transaction in
            transaction.concerns(circle: own.circleID)
            guard var own = try transaction.subscription(id), let circle = try transaction.circle(own.circleID) else {
                return nil
            }
            let update = SubscriptionUpdate(circle: circle, transaction: transaction, now: now)
            if try Self.note(outcome, on: &own, update, now: now) {
                try transaction.note(.subscription, .updated, in: circle.id, id: id, now: now)
            }
            try transaction.putSubscription(own)
            return own
        }
    }

    private func fetch(_ own: Subscription, _ circle: Circle) async throws -> Outcome {
        do {
            guard let text = try? services.sealingKey.open(own.sealedURL, for: Self.purpose(own.id)) else {
                return .problem("The address was sealed with another key than the server has.")
            }
            let url = try FetchURL(text, allowsHTTP: services.fetcher.rules.allowsHTTP)
            let validators = own.validatorsOf.map {
                FetchValidators(etag: own.etag, lastModified: own.lastModified, source: $0)
            }
            guard case .calendar(let calendar) = try await services.fetcher.attempt(url, validators) else {
                return .unchanged
            }
            var upload = try ImportUpload(calendar.bytes)
            upload.charset = calendar.charset
            let reading = try await services.importReader.read(upload, assumedTimeZone: circle.timeZone) { _ in }
            if reading.summary.problems.contains(where: { $0.code == "missing-end" }), !Self.isWhole(calendar.bytes) {
                return .problem("The calendar broke off before its end.")
            }
            return .calendar(reading, calendar.validators)
        } catch let failure as FetchFailure {
            return .problem(failure.message, retryAfter: failure.retryAfter, isGone: failure.kind == .status(410))
        } catch let refusal as Refusal {
            return .problem(refusal.detail)
        }
    }

    /// Whether the last line is the one that ends a calendar; a connection may be cut without a sign.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let tail = bytes.suffix(64).filter { $0 > 32 }
        return String(decoding: tail, as: UTF8.self).uppercased().hasSuffix("END:VCALENDAR")
    }

    /// Whether anything that others see of it or its events changed.
    private static func note(
        _ outcome: Outcome, on own: inout Subscription, _ update: SubscriptionUpdate, now: Int
    ) throws -> Bool {
        switch outcome {
        case .unchanged:
            settle(&own, now: now)
            return false
        case .calendar(let reading, let validators):
            let isEmpty = reading.summary.events == 0
            own.emptyAnswers = isEmpty ? own.emptyAnswers + 1 : 0
            // Hosts in trouble send empty calendars: one alone takes nothing away.
            if own.emptyAnswers == 1, try update.transaction.eventCount(ofSubscription: own.id) > 0 {
                settle(&own, now: now)
                own.lastProblem = "The calendar came without events; they go when it comes so again."
                (own.etag, own.lastModified) = (nil, nil)
                return false
            }
            settle(&own, now: now)
            (own.etag, own.lastModified) = (validators.etag, validators.lastModified)
            own.validatorsOf = validators.source
            return try update.apply(reading, to: &own)
        case .problem(let sentence, let retryAfter, let isGone):
            postpone(&own, sentence, retryAfter: retryAfter, now: now)
            guard isGone else { return false }
            own.state = .failed
            return true
        }
    }

    private static func postpone(_ own: inout Subscription, _ sentence: String, retryAfter: Int? = nil, now: Int) {
        let usual = own.refreshMinutes * 60_000
        own.failures += 1
        own.lastProblem = sentence
        let doubled = min(usual << min(own.failures - 1, 10), max(usual, day))
        own.nextAt = now + spread(max(doubled, (retryAfter ?? 0) * 1000))
    }

    private static func settle(_ own: inout Subscription, now: Int) {
        own.failures = 0
        own.lastProblem = nil
        own.lastFetchedAt = now
        own.nextAt = now + spread(own.refreshMinutes * 60_000)
    }

    /// Up to a tenth later, so that calendars of one host are not asked for all at once.
    private static func spread(_ milliseconds: Int) -> Int { milliseconds + Int.random(in: 0...milliseconds / 10) }

    static func purpose(_ id: String) -> String { "subscription/\(id)/url" }
}
