// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import Storage

extension Connections {
    /// The fields with which a CalDAV account is found.
    package struct AccountDraft: RequestContent {
        package var address: String?
        package var username: String?
        package var password: Concealed?
        /// The faults of the request; reported only to callers who may see the connection.
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            let password = InputType.password.documented(
                .string.described("An app password, if the server supports them."))
            return [
                .taken(
                    "url", \.address, .text(8192).described("The server's address, or the account's domain."),
                    isRequired: true),
                .taken("username", \.username, .text(), isRequired: true),
                .taken(
                    "password", \.password,
                    password.made(.outOfRange, "This must have 1 to 1024 bytes in UTF-8.") {
                        (1...1024).contains($0.bytes.count) ? $0 : nil
                    }, isRequired: true),
            ]
        }

        package static let example: JSONValue = [
            "url": "https://dav.example", "username": "jane", "password": "app-password",
        ]
    }

    /// Finds a CalDAV account and stores its credentials; throws 409 for another provider, and 422 for an address, a
    /// user name or a password that does not lead to calendars.
    package func setAccount(_ draft: AccountDraft, of id: String, for caller: Caller) async throws -> CalDAVAccount {
        let own = try await context.store.read { try Rights.connection(id, for: caller.identity, in: $0) }
        guard draft.faults.isEmpty, let address = draft.address, let username = draft.username,
            let password = draft.password
        else { throw Refusal.invalid(draft.faults) }
        guard own.provider == .caldav else {
            throw Refusal.conflict(
                "Only a CalDAV account has a password; sign in at \(own.provider.name).", code: .providerMismatch
            )
        }
        try context.grants.admit(caller.userID)
        let sender = Sender(user: own.userID, host: SyncScheduler.Gate(.caldav, account: address).host)
        let slot = try await context.sync.answers.ask(sender)
        defer { withExtendedLifetime(slot) {} }
        let account: CalDAVAccount
        do throws(ProviderFailure) {
            account = try await CalDAVDiscovery(
                url: address, username: username, password: password.reveal(),
                http: context.providers.door(for: RequestSource(own), sender), clock: context.now,
                services: AccountServices(rules: context.settings.fetching, asker: sender.caller)
            ).account()
        } catch {
            throw Self.refusal(error)
        }
        try await store(
            .password(account, username: username, password: password),
            of: ProviderAccount(id: account.principal, name: username), for: id, caller)
        return account
    }

    /// Attributes a provider failure to the fields of the account.
    private static func refusal(_ failure: ProviderFailure) -> Refusal {
        switch failure.kind {
        case .unauthorized:
            .invalid("/password", code: .wrongPassword, "The server does not accept this user name and password.")
        case .unreachable, .unanswered: .invalid("/url", code: .fetchFailed, failure.message)
        case .refused, .malformed, .forbidden, .calendarMissing:
            .invalid("/url", code: .addressNotAllowed, failure.message)
        default: Refusal(failure)
        }
    }
}
