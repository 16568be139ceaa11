// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// Access to the storage of one grant. Errors that these functions throw are ours, and never mean that the grant is
/// dead.
public struct GrantStorage: Sendable {
    /// Loads the grant that is stored now.
    public var load: @Sendable () async throws -> OAuthGrant
    /// Stores a renewed grant durably in place of the one that was refreshed, before it is used.
    public var store: @Sendable (_ renewed: OAuthGrant, _ replacing: OAuthGrant) async throws -> Void
    /// Records that the provider has declared the grant dead.
    public var markDead: @Sendable (ProviderFailure) async -> Void

    public init(
        load: @escaping @Sendable () async throws -> OAuthGrant,
        store: @escaping @Sendable (_ renewed: OAuthGrant, _ replacing: OAuthGrant) async throws -> Void,
        markDead: @escaping @Sendable (ProviderFailure) async -> Void
    ) {
        self.load = load
        self.store = store
        self.markDead = markDead
    }
}

/// The access tokens of one grant: however many runs ask, only one refresh is under way at a time.
///
/// One instance serves all runs of a grant in a process; refreshes by other processes are noticed in the storage.
public actor GrantTokens: AccessTokens {
    /// A token with fewer seconds left than this is renewed before it is used.
    private static let margin = 60

    private let client: OAuthClient
    private let storage: GrantStorage
    private let now: @Sendable () -> Instant
    private var known: OAuthGrant?
    /// A renewed grant that could not be stored yet, with the one that it replaces. It is not used before it is stored.
    private var unstored: (renewed: OAuthGrant, replacing: OAuthGrant)?
    /// The refresh token that the provider has refused: it is not sent again.
    private var dead: Concealed?
    private var refreshing: Task<Result<OAuthGrant, ProviderFailure>, Never>?

    public init(client: OAuthClient, storage: GrantStorage, now: @escaping @Sendable () -> Instant) {
        self.client = client
        self.storage = storage
        self.now = now
    }

    public func current() async throws(ProviderFailure) -> String {
        if let known, refreshing == nil, isFresh(known) { return known.accessToken.reveal() }
        return try await another(than: nil)
    }

    public func renewed(after token: String) async throws(ProviderFailure) -> String {
        if let known, refreshing == nil, isFresh(known), known.accessToken.reveal() != token {
            return known.accessToken.reveal()
        }
        return try await another(than: Concealed(token))
    }

    private func isFresh(_ grant: OAuthGrant) -> Bool { grant.expiresAt > now().adding(seconds: Self.margin) }

    private func another(than refused: Concealed?) async throws(ProviderFailure) -> String {
        let task: Task<Result<OAuthGrant, ProviderFailure>, Never>
        if let refreshing {
            task = refreshing
        } else {
            // Not a child task of the caller: a cancelled run must not cancel the refresh that others wait for, nor
            // lose a token that was rotated.
            task = Task { await self.renew(refused: refused) }
            refreshing = task
        }
        return try await task.value.get().accessToken.reveal()
    }

    private func renew(refused: Concealed?) async -> Result<OAuthGrant, ProviderFailure> {
        defer { refreshing = nil }
        do throws(ProviderFailure) {
            let grant = try await fresh(refused: refused)
            known = grant
            return .success(grant)
        } catch {
            if error.kind == .unauthorized { known = nil }
            return .failure(error)
        }
    }

    private func fresh(refused: Concealed?) async throws(ProviderFailure) -> OAuthGrant {
        if let (renewed, replacing) = unstored {
            try await store(renewed, replacing: replacing)
            if isFresh(renewed), renewed.accessToken != refused { return renewed }
        }
        let stored = try await load()
        if isFresh(stored), stored.accessToken != refused { return stored }
        do throws(ProviderFailure) {
            return try await refresh(stored)
        } catch {
            guard error.kind == .unauthorized else { throw error }
            // Another process may have used the refresh token, and stored its successor.
            let again = try await load()
            guard again.refreshToken != stored.refreshToken else { throw await died(error, stored) }
            if isFresh(again), again.accessToken != refused { return again }
            do throws(ProviderFailure) {
                return try await refresh(again)
            } catch {
                throw error.kind == .unauthorized ? await died(error, again) : error
            }
        }
    }

    private func refresh(_ grant: OAuthGrant) async throws(ProviderFailure) -> OAuthGrant {
        if let dead, dead == grant.refreshToken {
            throw ProviderFailure(.unauthorized, "The account has to be connected again.", code: "invalid_grant")
        }
        let renewed = try await client.refresh(grant, now: now())
        unstored = (renewed, grant)
        try await store(renewed, replacing: grant)
        return renewed
    }

    private func died(_ failure: ProviderFailure, _ grant: OAuthGrant) async -> ProviderFailure {
        let isNew = dead == nil || dead != grant.refreshToken
        dead = grant.refreshToken
        if isNew { await storage.markDead(failure) }
        return failure
    }

    private func load() async throws(ProviderFailure) -> OAuthGrant {
        do {
            return try await storage.load()
        } catch {
            throw ours(error)
        }
    }

    private func store(_ renewed: OAuthGrant, replacing: OAuthGrant) async throws(ProviderFailure) {
        do {
            try await storage.store(renewed, replacing)
            unstored = nil
        } catch {
            throw ours(error)
        }
    }

    private func ours(_ error: any Error) -> ProviderFailure {
        error as? ProviderFailure
            ?? ProviderFailure(.unavailable(retryAfter: nil), "The grant could not be read or stored here.")
    }
}
