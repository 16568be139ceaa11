// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import KalendsCore
package import Logging
import Outbound
import ServiceLifecycle
import Storage

/// Sends changes to webhooks while the server runs, at least once; messages for one circle go one after another.
///
/// Each webhook has its own lane with a limit on concurrent messages, so a receiver that does not respond delays only
/// its own messages. All state is in the database, so sending continues after a restart.
package struct WebhookDispatch: Service {
    package let services: Services
    package let logger: Logger

    package init(services: Services, logger: Logger) {
        self.services = services
        self.logger = logger
    }

    private static let pause = Duration.seconds(1)
    /// The maximum number of concurrent messages for one webhook, over all servers together, unless there are more servers than
    /// that.
    private static let concurrencyLimit = 8
    /// Milliseconds without success after which a message is given up and its webhook is disabled.
    private static let patience = 3 * 86_400_000

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            _ = try? await OperatorClient.with { client in
                let (sender, lanes) = (WebhookSender(client: client), WebhookLanes())
                await withDiscardingTaskGroup { group in
                    while !Task.isCancelled {
                        for hook in await attempt({ try await waiting() }) ?? [] where lanes.open(hook) {
                            group.addTask {
                                defer { lanes.close(hook) }
                                _ = await attempt { try await serve(hook, sender) }
                            }
                        }
                        try? await Task.sleep(for: Self.pause)
                    }
                }
            }
        }
    }

    /// Sends all messages that are due; returns how many were accepted.
    func once() async throws -> Int {
        try await OperatorClient.with { client in
            let sender = WebhookSender(client: client)
            var total = 0
            while true {
                let hooks = try await waiting()
                let taken = try await withThrowingTaskGroup(of: Int.self) { group in
                    for hook in hooks { group.addTask { try await serve(hook, sender) } }
                    return try await group.reduce(0, +)
                }
                if taken == 0 { return total }
                total += taken
            }
        }
    }

    private func attempt<Value: Sendable>(_ work: () async throws -> Value) async -> Value? {
        await logger.attempt("webhooks cannot be served", work)
    }

    /// Returns the webhooks that have messages to send.
    private func waiting() async throws -> [String] {
        if services.leases.shards.open.isEmpty { return [] }
        try await plan()
        return try await services.store.read { try $0.webhooksWithPending() }
    }

    /// Sends the due messages of a webhook, a few at a time; returns how many were accepted.
    private func serve(_ hook: String, _ sender: WebhookSender) async throws -> Int {
        try await withThrowingTaskGroup(of: (id: String, isTaken: Bool).self) { group in
            var underWay: Set<ByteString> = []
            var taken = 0
            while true {
                let (now, shards) = (services.now(), services.leases.shards.open)
                let most = max(1, Self.concurrencyLimit * shards.numbers.count / Shards.count)
                // Messages in progress are still among those that are due.
                let due = try await services.store.read {
                    try $0.dueDeliveries(of: hook, now: now, in: shards, limit: 2 * Self.concurrencyLimit)
                }
                for delivery in due where underWay.count < most && !underWay.contains(delivery.id) {
                    underWay.insert(delivery.id)
                    group.addTask {
                        let isTaken = try await services.leases.shards.work(of: delivery.circleID) {
                            try await deliver(delivery, sender)
                        }
                        return (delivery.id, isTaken ?? false)
                    }
                }
                guard let done = try await group.next() else { return taken }
                underWay.remove(done.id)
                taken += done.isTaken ? 1 : 0
            }
        }
    }

    /// Makes messages of the changes that were not processed yet.
    private func plan() async throws {
        try await services.store.orderChanges()
        let behind = try await services.store.read { try $0.webhooksBehind(try $0.latestChange()) }
        let now = services.now()
        for id in behind.map(\.id) {
            _ = try await services.leases.shards.work(of: id) {
                while !Task.isCancelled, try await planMore(id, now: now) {}
            }
        }
    }

    /// Makes messages of a webhook's next changes; returns false when there were none.
    private func planMore(_ id: String, now: Int) async throws -> Bool {
        try await services.store.record { transaction in
            guard var hook = try transaction.webhook(id), hook.isActive else { return false }
            let changes = try transaction.changes(afterSequence: hook.position, limit: 1000)
            guard let last = changes.last else { return false }
            for (circle, numbers) in Self.groups(changes.filter(hook.wants)) {
                try transaction.insertDelivery(
                    WebhookDelivery(
                        id: "msg_" + FeedLedger.makeID(), webhookID: id, circleID: circle,
                        firstNumber: numbers.lowerBound, lastNumber: numbers.upperBound, now: now))
            }
            hook.position = last.sequence
            try transaction.putWebhook(hook)
            return true
        }
    }

    /// Groups the changes by circle, with as many in one message as fit.
    private static func groups(_ changes: [CircleChange]) -> [(circle: String, numbers: ClosedRange<Int>)] {
        var order: [String] = []
        var numbers: [ByteString: [Int]] = [:]
        for change in changes {
            if numbers[change.circleID] == nil { order.append(change.circleID) }
            numbers[change.circleID, default: []].append(change.number)
        }
        return order.flatMap { circle in
            let all = numbers[circle] ?? []
            return stride(from: 0, to: all.count, by: WebhookMessage.most).map { start in
                (circle, all[start]...all[min(start + WebhookMessage.most, all.count) - 1])
            }
        }
    }

    /// Sends one message and notes the result; returns whether the message was accepted.
    private func deliver(_ delivery: WebhookDelivery, _ sender: WebhookSender) async throws -> Bool {
        let (now, key) = (services.now(), services.sealingKey)
        let found: (Webhook, [CircleChange]?)? = try await services.store.read { transaction in
            guard let hook = try transaction.webhook(delivery.webhookID) else { return nil }
            if delivery.circleID.isEmpty { return (hook, nil) }
            let changes = try transaction.changes(
                in: delivery.circleID, after: delivery.firstNumber - 1, upTo: delivery.lastNumber, seenBy: nil,
                limit: 1000)
            return (hook, changes.filter(hook.wants))
        }
        guard let (hook, changes) = found else { return false }
        try HeldLeases.check()
        let answer: WebhookAnswer
        if changes?.isEmpty == true {
            // No change is left to report: they are too old or no longer wanted.
            answer = WebhookAnswer(status: 204)
        } else if let message = try? WebhookMessage(delivery, to: hook, changes, key: key, now: now) {
            answer =
                WebhookAddress.isUsable(message.url) && services.settings.allowsMessages(to: message.url)
                ? await sender.send(message) : WebhookAnswer(problem: "Messages cannot be sent to the address.")
        } else {
            answer = WebhookAnswer(problem: "The address was sealed with a key other than the server's.")
        }
        // A message that the server's shutdown cut off is not a failure of the receiver.
        try Task.checkCancellation()
        try await services.store.record { [services] transaction in
            try Self.note(answer, delivery.id, in: transaction, now: services.now())
        }
        if answer.isGone { logger.notice("a webhook is gone and was disabled", metadata: ["webhook": "\(hook.id)"]) }
        return answer.isTaken
    }

    private static func note(
        _ answer: WebhookAnswer, _ id: String, in transaction: any WriteTransaction, now: Int
    ) throws {
        guard var delivery = try transaction.delivery(id), var hook = try transaction.webhook(delivery.webhookID) else {
            return
        }
        delivery.attempts += 1
        delivery.lastAttemptAt = now
        delivery.lastStatus = answer.status
        delivery.lastProblem = answer.problem
        if answer.isTaken {
            delivery.state = .delivered
            delivery.finishedAt = now
            hook.failingSince = nil
            hook.lastDeliveredAt = now
        } else {
            let since = (message: delivery.failingSince ?? now, hook: hook.failingSince ?? now)
            (delivery.failingSince, hook.failingSince) = (since.message, since.hook)
            delivery.nextAt = now + wait(after: delivery.attempts, answer.retryAfter)
            if answer.isGone || now - since.hook >= patience {
                hook.isActive = false
                hook.disabledReason =
                    answer.isGone
                    ? "The receiver answered 410: it wants no more messages."
                    : "The receiver accepted nothing for three days. The last problem: \(answer.problem ?? "none")"
            } else if now - since.message >= patience {
                delivery.state = .failed
                delivery.finishedAt = now
            }
        }
        try transaction.updateDelivery(delivery)
        try transaction.putWebhook(hook)
    }

    /// Milliseconds until the next attempt: 5 seconds, doubled each time up to an hour, plus or minus a fifth; never
    /// less than the receiver requests, up to an hour.
    static func wait(after attempts: Int, _ retryAfter: Int?) -> Int {
        let seconds = min(3600, 5 << min(max(0, attempts - 1), 10))
        return max(seconds * Int.random(in: 800...1200), min(max(retryAfter ?? 0, 0), 3600) * 1000)
    }
}
