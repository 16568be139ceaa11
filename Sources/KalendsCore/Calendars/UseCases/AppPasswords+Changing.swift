// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// What an app may do with the calendars that its password opens.
package enum AppAccess: String, CaseIterable, Sendable {
    case read, write
}

extension AppPasswords {
    /// The fields of a request for a new app password.
    package struct Draft: RequestContent {
        package var label: String?
        package var access = AppAccess.write
        /// Nil for all of the user's circles.
        package var circleIDs: [String]?
        package var own = true
        /// Milliseconds since 1970; nil for a password that does not expire.
        package var expiresAt: Int?
        /// The password's user; the installation must name one.
        package var userID: String?
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            [
                .taken("label", \.label, .text(), isRequired: true),
                .taken("access", \.access, AppPasswords.access),
                .edited("circleIds", \.circleIDs, AppPasswords.circles),
                .taken("own", \.own, AppPasswords.own),
                .taken("expiresAt", \.expiresAt, .milliseconds.described("A future time.")),
                .taken("userId", \.userID, .identifier.described("The password's user; only for a service key.")),
            ]
        }

        package static let example: JSONValue = ["label": "Thunderbird at home", "access": "write"]
    }

    /// What to change in an app password.
    package struct Change: RequestContent {
        package var label: String?
        package var access: AppAccess?
        package var circleIDs = Edit<[String]>.keep
        package var own: Bool?
        /// Milliseconds since 1970.
        package var expiresAt = Edit<Int>.keep
        /// Whether the person has seen what needs attention.
        package var clearsAttention = false
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            [
                .taken("label", \.label, .text()), .taken("access", \.access, AppPasswords.access),
                .edited("circleIds", \.circleIDs, AppPasswords.circles), .taken("own", \.own, AppPasswords.own),
                .edited("expiresAt", \.expiresAt, .milliseconds.described("A future time; null for never.")),
                .taken("attention", \.clearsAttention, .acknowledgement),
            ]
        }

        package static let example: JSONValue = ["label": "Tablet", "access": "read"]
    }

    /// A new app password with what is shown only this once.
    package struct Made: Sendable {
        package let counted: CountedAppPassword
        package let secret: AppSecret
        /// Fetches a profile with the password, once.
        package let profile: Secret
    }

    private static let access = InputType<AppAccess>.choice.described("Whether the app may change things.")
    private static let own = InputType<Bool>.flag.described("Whether it opens the person's own calendars, too.")
    private static let mostCircles = 1000
    private static let circles = InputType<[String]>.list(
        JSONSchema.array(of: .identifier, maximum: mostCircles).orNull
            .described("The circles that it opens; null for all of the user's."),
        of: 0...mostCircles, .tooMany, "This must be null or a list of at most \(mostCircles) ids.",
        each: (.invalidID, Identifier.rule)
    ) { item in item.string.flatMap { Identifier.isValid($0) ? $0 : nil } }
    .made { Set<ByteString>($0).sortedTexts() }

    /// How long a profile waits to be fetched, in milliseconds: an hour.
    static let profileLifetime = 3_600_000
    private static let mint = "A user can make app passwords"

    /// Creates an app password; throws 409 when the user has the maximum number of them.
    package func create(_ draft: Draft, for caller: Caller) async throws -> Made {
        let profile = Secret.make(.profile)
        return try await create(
            draft, for: caller, handingOutTo: profile.hash, until: now() + Self.profileLifetime
        ) { Made(counted: $0, secret: $1, profile: profile) }
    }

    /// - Parameters:
    ///   - fetcher: the hash of the secret with which the password can be fetched.
    ///   - value: makes the act's value of the password.
    func create<Value: Sendable>(
        _ draft: Draft, for caller: Caller, handingOutTo fetcher: String, until time: Int,
        _ value: @escaping @Sendable (CountedAppPassword, AppSecret) -> Value
    ) async throws -> Value {
        let now = now()
        let own = [
            caller.ownerFault(draft.userID, of: "an app password"), Feeds.expiryFault(draft.expiresAt, now: now),
        ]
        let faults = draft.faults + own.compactMap(\.self).filter { !draft.faults.map(\.pointer).contains($0.pointer) }
        guard faults.isEmpty, let user = caller.userID ?? draft.userID, let label = draft.label else {
            throw Refusal.invalid(faults)
        }
        let (ledger, most) = (ledger, settings.quotas.clamped(to: caller.identity).appPasswordsPerUser)
        if let user = caller.userID { try mints.take(user, now: now, Self.mint) }
        let id = FeedLedger.makeID()
        return try await acts.act(on: .appPasswords(of: user), for: caller) { act in
            let transaction = act.transaction
            if try transaction.appPasswordCount(of: user) >= most {
                throw Refusal.quota("A user has", most, "app passwords")
            }
            try Self.checkCircles(draft.circleIDs, of: user, transaction)
            let new = AppPassword(
                id: id, userID: user, label: label, mayWrite: draft.access == .write, circleIDs: draft.circleIDs,
                reachesOwn: draft.own, expiresAt: draft.expiresAt, now: act.now)
            let (password, secret) = try Self.sealing { try ledger.mint(new, in: transaction) }
            guard try ledger.handOut(secret, of: password, to: fetcher, until: time, in: transaction) else {
                throw Refusal.loginUsed
            }
            let detail: JSONValue = ["access": .string(draft.access.rawValue), "user": .string(user)]
            return ActResult(
                value(CountedAppPassword(password), secret), noting: AuditNote(.appPasswordCreated, id, detail: detail))
        }
    }

    /// Changes an app password, from the next request on.
    package func change(
        _ id: String, _ change: Change, if condition: Precondition<AppPassword>, for caller: Caller
    ) async throws -> CountedAppPassword {
        await foldIfPossible()
        return try await acts.act(on: .appPassword(id), for: caller) { act in
            let (old, transaction) = (act.target, act.transaction)
            try condition.check(old)
            var faults = change.faults
            if case .set(let time) = change.expiresAt, let fault = Feeds.expiryFault(time, now: act.now) {
                faults.append(fault)
            }
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            var new = old
            new.label = change.label ?? old.label
            new.mayWrite = change.access.map { $0 == .write } ?? old.mayWrite
            new.circleIDs = change.circleIDs.applied(to: old.circleIDs)
            new.reachesOwn = change.own ?? old.reachesOwn
            new.expiresAt = change.expiresAt.applied(to: old.expiresAt)
            if new.circleIDs != old.circleIDs { try Self.checkCircles(new.circleIDs, of: old.userID, transaction) }
            let hasCleared = change.clearsAttention ? try transaction.clearAttention(of: id, now: act.now) : false
            let changed: [ByteString: Bool] = [
                "access": new.mayWrite != old.mayWrite, "attention": hasCleared,
                "circleIds": new.circleIDs != old.circleIDs, "expiresAt": new.expiresAt != old.expiresAt,
                "label": new.label != old.label, "own": new.reachesOwn != old.reachesOwn,
            ]
            if new != old {
                new.updatedAt = act.now
                try transaction.updateAppPassword(new)
            }
            return .changed(
                try CountedAppPassword(new, in: transaction),
                noting: AuditNote(.appPasswordChanged, id, changed: changed))
        }
    }

    /// Ends an app password now and permanently, on every server; throws 403 where the caller has to sign in again
    /// first.
    package func end(_ id: String, if condition: Precondition<AppPassword>, for caller: Caller) async throws {
        await foldIfPossible()
        let recently = recently
        try await acts.act(on: .appPassword(id), for: caller) { act in
            try recently.check(caller, in: act.transaction, now: act.now)
            try condition.check(act.target)
            try act.transaction.endAppPassword(id, now: act.now)
            return ActResult(noting: AuditNote(.appPasswordEnded, id, detail: ["user": .string(act.target.userID)]))
        }
    }

    /// Runs what needs the server's key; throws 409 when what is stored was sealed with another one.
    static func sealing<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch SealingKey.Failure.wrongKey {
            throw Refusal.conflict(
                "App passwords were made with a key other than the server's. Give the server its former key.",
                code: .sealedByAnotherKey)
        }
    }

    /// Throws 422 for a circle that is not the user's.
    private static func checkCircles(_ ids: [String]?, of user: String, _ transaction: any ReadTransaction) throws {
        let faults = try (ids ?? []).enumerated().filter {
            try transaction.circle($0.element) == nil || transaction.member(user, in: $0.element) == nil
        }
        if !faults.isEmpty {
            throw Refusal.invalid(
                faults.map {
                    Fault(
                        pointer: "/circleIds/\($0.offset)", code: .unknownReference,
                        message: "The user is in no such circle.")
                })
        }
    }
}

extension Refusal {
    static let loginUsed = Refusal.conflict(
        "The app has been let in already. Begin again in the app.", code: .loginUsed)
}
