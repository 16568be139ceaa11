// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
import Storage

extension Feeds {
    /// The fields of a request for a new feed.
    package struct Draft: RequestContent {
        /// The feed's owner; the installation must name one, a user's feeds are always the user's own.
        package var userID: String?
        package var label: String?
        package var configuration = FeedConfiguration()
        /// Milliseconds since 1970; nil for a feed that does not expire.
        package var expiresAt: Int?
        /// The faults of the request.
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            [
                .taken("label", \.label, .looseText()),
                .taken("expiresAt", \.expiresAt, .milliseconds.described("A future time.")),
                .taken("userId", \.userID, .identifier.described("The feed's owner; only for a service key.")),
                .options(\.configuration, kinds),
            ]
        }

        package static let example: JSONValue = [
            "label": "Phone", "userId": "jane", "config": ["detail": "titles"],
        ]
    }

    /// The parts of a feed's secret address.
    package struct Address: Sendable {
        package let token: Secret
        package let circleName: String
    }

    /// A feed with its new address.
    package struct Addressed: Sendable {
        package let feed: CountedFeed
        package let address: Address
    }

    private static let mint = "A user can get addresses of feeds"
    /// How many former addresses of a feed may work at a time.
    private static let mostInGrace = 50

    /// Returns the fault of a feed's end; nil when the end is valid.
    package static func expiryFault(_ expiresAt: Int?, now: Int) -> Fault? {
        guard let expiresAt, expiresAt <= now else { return nil }
        return Fault(pointer: "/expiresAt", code: .outOfRange, message: "This must be in the future.")
    }

    /// Returns the fault of a feed that shows more than a key's circles to the key; nil for any other.
    static func ownFault(_ configuration: FeedConfiguration, for caller: Caller) -> Fault? {
        guard configuration.showsOwn, caller.identity.bound != nil else { return nil }
        return Fault(
            pointer: "/config", code: .contradiction,
            message: "A key that is bound to circles cannot show a user's own calendar.")
    }

    /// Creates a feed with its first address.
    ///
    /// Throws 409 when the user has a feed of the circle with this label, or the maximum number of feeds.
    package func create(_ draft: Draft, in circle: String, for caller: Caller) async throws -> Addressed {
        let now = context.now()
        let own = [
            caller.ownerFault(draft.userID, of: "a feed"), Self.expiryFault(draft.expiresAt, now: now),
            Self.ownFault(draft.configuration, for: caller),
        ]
        // A field that is present but cannot be read is already a fault.
        let faults = draft.faults + own.compactMap(\.self).filter { !draft.faults.map(\.pointer).contains($0.pointer) }
        guard faults.isEmpty, let user = caller.userID ?? draft.userID else { throw Refusal.invalid(faults) }
        let new = FeedLedger.NewFeed(
            circleID: circle, userID: user, label: draft.label,
            config: try draft.configuration.stored(context.settings.kinds),
            showsOwn: draft.configuration.showsOwn, expiresAt: draft.expiresAt)
        let (ledger, most) = (context.ledger, context.settings.quotas.clamped(to: caller.identity).feedsPerUser)
        if let user = caller.userID { try context.mints.take(user, now: now, Self.mint) }
        return try await context.acts.act(on: .circle(circle, .read), for: caller) { act in
            let transaction = act.transaction
            guard try transaction.member(user, in: circle) != nil else {
                throw Refusal.invalid("/userId", code: .unknownReference, "The circle has no such member.")
            }
            try Self.checkPatients(draft.configuration.patientIds, in: circle, transaction)
            let (feed, token): (Feed, Secret)
            do {
                (feed, token) = try ledger.create(new, in: transaction, now: act.now)
            } catch FeedLedger.Refusal.labelTaken(let first) {
                throw Refusal.conflict(
                    "This user has a feed of this circle \(new.label == nil ? "without a label" : "with this label"): "
                        + "\(first). Give another label, or use that feed.", code: .labelTaken,
                    extra: .feed(first))
            }
            if try transaction.feedCount(of: user, in: circle) > most {
                throw Refusal.quota("A user has", most, "feeds in a circle, counting those that have ended")
            }
            try caller.checkFeeds(in: transaction)
            return ActResult(
                Addressed(
                    feed: CountedFeed(feed), address: Address(token: token, circleName: act.circle.name)),
                noting: AuditNote(.feedCreated, feed.id, detail: ["user": .string(user)]))
        }
    }

    /// Gives a feed a new address; the old one ends now, or after the given number of seconds.
    ///
    /// Throws 409 for a feed that has ended, and when too many of its former addresses still work.
    package func regenerate(_ id: String, graceSeconds grace: Int, for caller: Caller) async throws -> Addressed {
        let ledger = context.ledger
        if let user = caller.userID { try context.mints.take(user, now: context.now(), Self.mint) }
        await foldIfPossible()
        return try await context.acts.act(onFeed: id, for: caller) { act in
            let transaction = act.transaction
            if grace > 0, try transaction.tokensInGrace(of: id, now: act.now) >= Self.mostInGrace {
                throw Refusal.conflict(
                    "\(Self.mostInGrace) former addresses of this feed still work, which is the maximum. "
                        + "Regenerate it without a grace period.",
                    code: .limitReached)
            }
            let token: Secret
            do {
                token = try ledger.regenerate(act.feed, graceSeconds: grace, in: transaction, now: act.now)
            } catch FeedLedger.Refusal.revoked {
                throw Refusal.conflict("This feed is revoked. Make a new one.", code: .feedRevoked)
            } catch FeedLedger.Refusal.expired {
                throw Refusal.conflict("This feed has expired. Give it a later expiresAt first.", code: .feedExpired)
            }
            guard let new = try transaction.feed(id) else { throw Refusal.missing(.feed) }
            let name = try transaction.circle(new.circleID)?.name ?? ""
            return ActResult(
                Addressed(
                    feed: try CountedFeed(new, in: transaction), address: Address(token: token, circleName: name)),
                noting: AuditNote(.feedRegenerated, id, detail: ["former": grace > 0 ? "grace" : "ended"]))
        }
    }

    /// Shows a feed's address again and notes that in the audit trail.
    ///
    /// Throws 409 for a feed that is revoked, and for an address that was sealed with another key.
    package func reveal(_ id: String, for caller: Caller) async throws -> Address {
        let ledger = context.ledger
        return try await context.acts.act(onFeed: id, for: caller) { act in
            if act.feed.revokedAt != nil {
                throw Refusal.conflict("This feed is revoked; its address opens nothing.", code: .feedRevoked)
            }
            let token: Secret
            do {
                token = try ledger.reveal(act.feed, in: act.transaction, now: act.now)
            } catch SealingKey.Failure.wrongKey {
                throw Refusal.conflict(
                    "This address was sealed with a key other than the server's. Regenerate the feed for a new one.",
                    code: .sealedByAnotherKey)
            }
            let name = try act.transaction.circle(act.feed.circleID)?.name ?? ""
            return ActResult(Address(token: token, circleName: name), noting: AuditNote(.feedRevealed, id))
        }
    }

    /// Brings the counts in the response to a change up to date, if possible. The change does not depend on them: a
    /// feed must end no matter how often it was read.
    func foldIfPossible() async { try? await context.counter.fold() }

    /// Throws 422 for a patient whom the circle never had, since a typing error would make an empty calendar.
    static func checkPatients(_ ids: [String]?, in circle: String, _ transaction: any ReadTransaction) throws {
        let faults = try (ids ?? []).enumerated().filter {
            try transaction.patientEverKnown($0.element, in: circle) == nil
        }
        if !faults.isEmpty {
            throw Refusal.invalid(
                faults.map {
                    Fault(
                        pointer: "/config/patientIds/\($0.offset)", code: .unknownReference,
                        message: "The circle has no such patient.")
                })
        }
    }
}
