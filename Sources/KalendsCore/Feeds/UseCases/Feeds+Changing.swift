// SPDX-License-Identifier: Apache-2.0

package import Storage

extension Feeds {
    /// What to change in a feed.
    package struct Change: RequestContent {
        package var label = Edit<String>.keep
        /// Milliseconds since 1970.
        package var expiresAt = Edit<Int>.keep
        /// Changes the feed's configuration; nil leaves it as it is. It may be called more than once.
        package var configure: (@Sendable (inout FeedConfiguration) -> Void)?
        /// Whether the person has seen what needs attention.
        package var clearsAttention = false
        /// The faults of the request; reported only to callers who may see the feed, and only if the
        /// precondition holds.
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            [
                .options(\.configure, kinds), .edited("label", \.label, .looseText()),
                .edited("expiresAt", \.expiresAt, .milliseconds.described("A future time; null for never.")),
                .taken("attention", \.clearsAttention, .acknowledgement),
            ]
        }

        package static let example: JSONValue = ["label": "Tablet"]
    }

    /// Changes a feed; throws 409 when the user has another feed with this label.
    package func change(
        _ id: String, _ change: Change, if condition: Precondition<Feed>, for caller: Caller
    ) async throws -> CountedFeed {
        await foldIfPossible()
        return try await context.acts.act(onFeed: id, for: caller) { act in
            var (feed, old) = (act.feed, act.feed)
            try condition.check(old)
            let oldConfiguration = try FeedConfiguration(stored: old.config, context.settings.kinds)
            var configuration = oldConfiguration
            change.configure?(&configuration)
            feed.label = change.label.applied(to: old.label)
            feed.expiresAt = change.expiresAt.applied(to: old.expiresAt)
            var faults = change.faults
            if case .set(let time) = change.expiresAt, let fault = Self.expiryFault(time, now: act.now) {
                faults.append(fault)
            }
            if let fault = Self.ownFault(configuration, for: caller) { faults.append(fault) }
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            let (transaction, now) = (act.transaction, act.now)
            let hasCleared = change.clearsAttention ? try transaction.clearAttention(of: id, now: now) : false
            if feed.revokedAt == nil,
                let other = try transaction.feed(labelled: feed.label, of: feed.userID, in: feed.circleID),
                other.id != feed.id
            {
                throw Refusal.conflict(
                    "This user has another feed with this label: \(other.id).", code: .labelTaken,
                    extra: .feed(other.id))
            }
            if configuration.patientIds != oldConfiguration.patientIds {
                try Self.checkPatients(configuration.patientIds, in: feed.circleID, transaction)
            }
            if configuration != oldConfiguration {
                feed.config = try configuration.stored(context.settings.kinds)
                feed.showsOwn = configuration.showsOwn
                feed.configChangedAt = ChangeTime.after(feed.configChangedAt, now: now)
                if configuration.showsEventsDifferently(from: oldConfiguration) {
                    feed.sequenceOffset += 1
                    feed.shownChangedAt = now
                }
            }
            if feed.expiresAt != old.expiresAt { try transaction.touchNotices(of: id, now: now) }
            feed.updatedAt = now
            try transaction.updateFeed(feed)
            let changed: [ByteString: Bool] = [
                "attention": hasCleared, "config": configuration != oldConfiguration,
                "expiresAt": feed.expiresAt != old.expiresAt, "label": feed.label != old.label,
            ]
            return .changed(
                try CountedFeed(feed, in: transaction), noting: AuditNote(.feedChanged, id, changed: changed))
        }
    }

    /// Ends a feed now and permanently; a feed that has already ended stays as it is.
    package func revoke(_ id: String, for caller: Caller) async throws -> CountedFeed {
        await foldIfPossible()
        return try await context.acts.act(onFeed: id, for: caller) { act in
            try act.transaction.revokeFeed(id, now: act.now)
            guard let feed = try act.transaction.feed(id) else { throw Refusal.missing(.feed) }
            let counted = try CountedFeed(feed, in: act.transaction)
            return act.feed.revokedAt == nil
                ? ActResult(counted, noting: AuditNote(.feedRevoked, id)) : .unchanged(counted)
        }
    }

    /// Deletes a feed with all its counts.
    package func delete(_ id: String, if condition: Precondition<Feed>, for caller: Caller) async throws {
        try await context.acts.act(on: .feed(id), for: caller) { act in
            try condition.check(act.feed)
            try act.transaction.deleteFeed(id, now: act.now)
            return ActResult(noting: AuditNote(.feedDeleted, id))
        }
    }
}
