// SPDX-License-Identifier: Apache-2.0

import CalendarSync
package import FeedTokens
import ICalBridge
package import Storage

/// Creates the provider of a connection, with the credential of its account.
package struct ConnectionProviders: Sendable {
    package let settings: ServerSettings
    package let store: any Store
    package let key: SealingKey
    package let grants: GrantRegistry
    package let sync: SyncScheduler
    package let now: Clock

    package init(
        settings: ServerSettings, store: any Store, key: SealingKey, grants: GrantRegistry, sync: SyncScheduler,
        now: @escaping Clock
    ) {
        self.settings = settings
        self.store = store
        self.key = key
        self.grants = grants
        self.sync = sync
        self.now = now
    }

    private var own: ConnectionSettings { settings.connections }

    /// Returns the door for a run of a connection, or for a look at it that a person waits for; both hold room for the
    /// circle, and give way to those that wait for it.
    func door(of connection: Connection, isQuestion: Bool) -> LimitedProviderHTTP {
        let (provider, sender) = (connection.provider, Self.sender(connection))
        return LimitedProviderHTTP(
            line(for: RequestSource(connection), sender), sync.answers, for: sender,
            time: isQuestion ? LimitedProviderHTTP.timeOfQuestion : LimitedProviderHTTP.timeOfRun
        ) { [sync] in isQuestion ? sync.awaitingRoom : sync.awaiting(provider) }
    }

    /// Returns the door for a question that a person waits for.
    func door(for source: RequestSource, _ sender: Sender) -> LimitedProviderHTTP {
        LimitedProviderHTTP(
            line(for: source, sender), sync.answers, for: sender, time: LimitedProviderHTTP.timeOfQuestion)
    }

    /// Returns the sender that answers of a connection's provider are counted for.
    static func sender(_ connection: Connection) -> Sender {
        Sender(
            user: connection.userID, host: SyncScheduler.Gate(connection.provider, account: connection.accountID).host)
    }

    /// Returns the way for requests; each is counted.
    private func line(for source: RequestSource, _ sender: Sender) -> CountedLine {
        let line: any ProviderLine =
            source.provider == .caldav
            ? AccountHTTP(
                rules: settings.fetching, privateHosts: own.privateCaldavHosts, asker: sender.caller)
            : SettingsHTTP()
        return CountedLine(line: line, counter: sync.requests, source: source)
    }

    /// The address to which a provider sends browsers back.
    var redirectURI: String { settings.publicURL + "/v1/connections/callback" }

    /// Returns the scopes that a sign-in asks for; nil for a provider without a sign-in.
    func scopes(of provider: Connection.Provider) -> [String]? {
        switch provider {
        case .google: GoogleScope.all
        case .outlook: MicrosoftScope.all
        case .caldav, .apple: nil
        }
    }

    /// Returns the client for the sign-in at a provider; throws 409 if it has no sign-in or is not set up.
    func oauth(_ provider: Connection.Provider) throws -> OAuthClient {
        try own.check(provider)
        let application: OAuthApplication
        switch provider {
        case .google:
            application = .google(
                clientID: own.googleClientID ?? "", clientSecret: own.googleClientSecret,
                authorizeURL: own.googleAuthorizeURL, tokenURL: own.googleTokenURL, revokeURL: own.googleRevokeURL)
        case .outlook:
            application = .microsoft(
                clientID: own.microsoftClientID ?? "", clientSecret: own.microsoftClientSecret,
                tenant: own.microsoftTenant, loginURL: own.microsoftLoginURL)
        case .caldav, .apple:
            throw Refusal.conflict("\(provider.name) has no page to sign in at.", code: .providerMismatch)
        }
        return OAuthClient(
            application,
            http: CountedLine(
                line: SettingsHTTP(), counter: sync.requests, source: RequestSource(provider), kind: .token))
    }

    /// Returns the provider of a connection whose account is known.
    ///
    /// Throws 409 if the connection has no account, the provider is not set up, or a phone carries its events; throws
    /// `ProviderFailure` if the account cannot be used.
    ///
    /// - Parameters:
    ///   - circle: the circle's name and zone, for creating a calendar.
    ///   - http: the door for its answers.
    func provider(
        of connection: Connection, zone: String, over http: any ProviderHTTP
    ) async throws -> any CalendarProvider {
        try own.check(connection.provider)
        let id = connection.id
        guard connection.provider != .apple else {
            throw Refusal.conflict(
                "The calendars of \(connection.provider.name) are on the phone.", code: .providerMismatch)
        }
        guard let stored = try await store.read({ try $0.credential(ofConnection: id) }) else {
            throw Refusal.connectionUnauthorized
        }
        switch (connection.provider, try open(stored)) {
        case (.google, .oauth):
            return google(grants.tokens(of: id, try oauth(.google)), http)
        case (.outlook, .oauth):
            let tokens = grants.tokens(of: id, try oauth(.outlook))
            return outlook(tokens, http, gate: grants.gate(of: stored.account))
        case (.caldav, .password(let account, let username, let password)):
            return try CalDAVCalendar(
                account: account, username: username, password: password.reveal(),
                calendarKey: try await calendarKey(connection.circleID), floatingZone: zone,
                objects: ObjectWorker(settings.readWorker, in: sync.answers, for: Self.sender(connection)), http: http,
                clock: now)
        default: throw Refusal.connectionUnauthorized
        }
    }

    func google(_ tokens: any AccessTokens, _ http: any ProviderHTTP) -> GoogleCalendar {
        GoogleCalendar(
            http: http, tokens: tokens, baseURL: own.googleApiURL, now: { [now] in Instant(seconds: now() / 1000) })
    }

    func outlook(_ tokens: any AccessTokens, _ http: any ProviderHTTP, gate: MailboxGate) -> GraphCalendar {
        GraphCalendar(
            http: http, tokens: tokens, baseURL: own.microsoftGraphURL, gate: gate,
            now: { [now] in Instant(seconds: now() / 1000) })
    }

    /// Revokes a grant at its provider, unless another connection uses the same account; those of `user` do not count.
    ///
    /// - Returns: whether the grant no longer opens anything, as far as the provider can tell; false if it could not be
    ///   reached.
    func revoke(
        _ stored: ConnectionCredential, _ provider: Connection.Provider, exceptBy user: String? = nil
    ) async -> Bool {
        guard own.missing(for: provider).isEmpty, case .oauth(let grant)? = try? AccountCredential(stored, key),
            (try? await store.read({ try $0.isShared(stored, exceptBy: user) })) == false,
            let client = try? oauth(provider)
        else { return true }
        return (try? await within(.seconds(10)) { try await client.revoke(grant) }) != nil
    }

    func open(_ stored: ConnectionCredential) throws -> AccountCredential {
        do {
            return try AccountCredential(stored, key)
        } catch SealingKey.Failure.wrongKey {
            throw Refusal.conflict(
                "The credentials of this account were sealed with a key other than this server's. Connect it again.",
                code: .sealedByAnotherKey)
        }
    }

    /// Returns the key that identifies the calendar that this installation creates for a circle.
    private func calendarKey(_ circle: String) async throws -> String {
        "\(try await store.read { try $0.installationID() }):\(circle)"
    }
}

/// A newly granted token, for the first request to a provider.
struct GrantedToken: AccessTokens {
    let grant: OAuthGrant

    func current() async throws(ProviderFailure) -> String { grant.accessToken.reveal() }

    func renewed(after token: String) async throws(ProviderFailure) -> String {
        throw ProviderFailure(.unauthorized, "The account has to be connected again.")
    }
}
