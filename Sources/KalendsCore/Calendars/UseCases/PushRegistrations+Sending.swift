// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
import Storage

/// The outcome of a message to a push service; nothing in it reveals the address.
package struct PushAnswer: Sendable {
    package var status: Int?
    /// The wait that the push service requests, in seconds.
    package var retryAfter: Int?

    package var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }
    /// Whether the push resource no longer exists (RFC 8030 section 7.3).
    var isGone: Bool { status == 404 || status == 410 }
}

/// A message that is due, and what its app has heard once it is taken.
package struct DuePush: Sendable {
    let registration: PushRegistration
    let target: PushTarget
    let message: PushMessage
    let sent: CollectionState
    let shown: String

    /// The person whose app is to hear, and the push service.
    fileprivate var sender: Sender {
        Sender(
            user: registration.userID, host: ByteString(WebOrigin(ofAddress: target.url.reveal())?.host ?? ""))
    }
}

/// The places for messages that are under way to push services: one service has never more than a third of them, and so
/// there is always one for another.
package struct PushPlaces: Sendable {
    private let pool = FairPool(
        FairPool.Size(bytes: 0, slots: 500), busy: "Many messages are under way to push services.")
    private static let patience = Duration.seconds(15)
    private static let pause = Duration.milliseconds(50)

    package init() {}

    /// Waits for a place, which is given back with the last reference to it; nil if others keep theirs for too long.
    package func enter(_ push: DuePush) async throws -> FairPool.Holding? {
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            if let place = try? pool.enter(push.sender) { return place }
            try await Task.sleep(for: Self.pause)
        }
        return nil
    }
}

extension PushRegistrations {
    /// How long a push service keeps a message, in seconds; by then apps have looked by themselves.
    private static let timeToLive = 86_400
    /// The longest time from the look-up to the end of the answer.
    private static let deadline = Duration.seconds(15)
    private static let longestAnswer = 1 << 10

    /// Returns registrations in this server's shards whose app did not hear of the latest state, with their people: each
    /// person's first one before anybody's second one.
    package func behind(limit: Int) async throws -> [(id: String, user: String)] {
        let (now, shards) = (now(), leases.shards.open)
        if shards.isEmpty { return [] }
        return try await store.read { try $0.pushRegistrationsBehind(now: now, in: shards, limit: limit) }
    }

    private enum Finding: Sendable {
        case due(DuePush)
        /// The app need not hear of the state.
        case quiet(PushRegistration, CollectionState)
        /// The app may not hear of it any more.
        case ended
    }

    /// Returns the message that a registration's app is to get now; nil if it is to get none.
    package func due(_ id: String) async throws -> DuePush? {
        let (now, settings, key) = (now(), settings, sealingKey)
        let tokens = SyncTokens(databaseID: databaseID)
        let finding: Finding = try await store.read { transaction in
            guard let registration = try transaction.pushRegistration(id), registration.expiresAt > now,
                let password = try transaction.appPassword(registration.passwordID), password.isLive(at: now),
                let state = try transaction.collectionState(of: registration.kind, registration.collectionID),
                let collection = try Self.collection(
                    (registration.kind, registration.collectionID), for: CalDAVCaller(password), in: transaction)
            else { return .ended }
            let isNew = try registration.wantsContent && Self.hasNews(registration, settings, in: transaction)
            let shown = Self.look(of: collection)
            let looksNew =
                registration.wantsProperties
                && (registration.propertyChanges != registration.notifiedPropertyChanges
                    || !shown.isSameText(as: registration.shown))
            guard isNew || looksNew else { return .quiet(registration, state) }
            return .due(
                DuePush(
                    registration: registration,
                    target: try PushTarget(sealed: registration.sealed, with: key, of: registration.id),
                    message: PushMessage(
                        topic: collection.pushTopic, syncToken: isNew ? tokens.token(of: collection) : nil,
                        changesProperties: looksNew),
                    sent: state, shown: shown))
        }
        switch finding {
        case .due(let push): return push
        case .quiet(let registration, let state):
            try await store.record { transaction in
                try Self.note(registration, sent: state, shown: registration.shown, in: transaction)
            }
        case .ended: _ = try await store.record { try $0.deletePushRegistration(id) }
        }
        return nil
    }

    /// Sends a message once.
    package func send(_ push: DuePush) async throws -> PushAnswer {
        let (settings, address) = (settings, push.target.url.reveal())
        guard isUsable(address), let origin = WebOrigin(ofAddress: address) else { return PushAnswer(status: 410) }
        let contact = settings.isSecure ? settings.publicURL : nil
        let proof = try await pushKeys.key().authorization(for: origin.text, contact: contact, now: now())
        let request = ProviderRequest(
            "POST", address,
            headers: [
                ("Content-Type", "application/xml; charset=\"UTF-8\""), ("Content-Encoding", "aes128gcm"),
                ("Authorization", proof), ("TTL", String(Self.timeToLive)), ("Urgency", "normal"),
                ("Topic", push.replacing), ("User-Agent", "Kalends/1 (push)"),
            ], body: try push.target.encrypted(push.message.body), longestAnswer: Self.longestAnswer)
        let client = AccountHTTP(
            rules: settings.fetching, privateHosts: settings.connections.privatePushHosts,
            asker: push.sender.caller)
        let answer = try? await within(Self.deadline) { try await client.send(request) { _ in true } }
        // A message that the server's shutdown cut off is not a failure of the push service.
        try Task.checkCancellation()
        guard let answer = answer.flatMap({ $0 }) else { return PushAnswer() }
        return PushAnswer(status: answer.status, retryAfter: answer.field("Retry-After").flatMap { Int($0) })
    }

    /// Notes what became of a message.
    ///
    /// - Parameter nextAt: when the next message may be sent if this one was not taken, from the number of attempts.
    package func note(
        _ answer: PushAnswer, to push: DuePush, nextAt: @escaping @Sendable (_ attempts: Int) -> Int
    ) async throws {
        try await store.record { transaction in
            if answer.isTaken {
                try Self.note(push.registration, sent: push.sent, shown: push.shown, in: transaction)
            } else if answer.isGone {
                try transaction.deletePushRegistration(push.registration.id)
            } else if var registration = try transaction.pushRegistration(push.registration.id) {
                registration.attempts += 1
                registration.nextAt = nextAt(registration.attempts)
                try transaction.putPushRegistration(registration)
            }
        }
        metrics.countPush(isTaken: answer.isTaken)
    }

    /// Notes which state an app has heard of; what was noted since stays.
    private static func note(
        _ earlier: PushRegistration, sent state: CollectionState, shown: String, in transaction: any WriteTransaction
    ) throws {
        guard var registration = try transaction.pushRegistration(earlier.id) else { return }
        registration.sent = max(registration.sent, state)
        registration.notifiedPropertyChanges = max(registration.notifiedPropertyChanges, earlier.propertyChanges)
        (registration.shown, registration.nextAt, registration.attempts) = (shown, 0, 0)
        try transaction.putPushRegistration(registration)
    }
}

extension DuePush {
    /// The topic under which a push service replaces a message that was not delivered yet (RFC 8030 section 5.4).
    ///
    /// Only a message that says as much replaces another; it reveals nothing about the collection.
    fileprivate var replacing: String {
        let what = (message.syncToken == nil ? 0 : 1) + (message.changesProperties ? 2 : 0)
        let text = "kalends/push-replaced/\(registration.id)/\(what)"
        return Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(18)))
    }
}
