// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

/// The account that a sign-in opened.
struct ProviderAccount: Hashable, Sendable {
    /// The account's id, which is the same for every sign-in.
    var id: String
    /// The account's name as the person knows it.
    var name: String

    /// Asks the provider which account a user's grant belongs to; throws `ProviderFailure` if it does not answer that.
    static func find(
        _ provider: Connection.Provider, _ grant: OAuthGrant, of user: String, _ providers: ConnectionProviders
    ) async throws -> ProviderAccount {
        let token = GrantedToken(grant: grant)
        let http = providers.door(for: RequestSource(provider), Sender(user: user, host: nil))
        switch provider {
        case .google:
            // The primary calendar's id is the account's address.
            let calendars = try await providers.google(token, http).calendars()
            guard let primary = calendars.first(where: \.isPrimary) else { throw unknown }
            return ProviderAccount(id: primary.id, name: primary.id)
        case .outlook:
            let base = providers.settings.connections.microsoftGraphURL
            if let me = try? await ask("\(base)/me", grant, http), let id = text(me["id"]) {
                return ProviderAccount(
                    id: id, name: text(me["mail"]) ?? text(me["userPrincipalName"]) ?? text(me["displayName"]) ?? id)
            }
            let calendars = try await ask("\(base)/me/calendars", grant, http)["value"]?.array ?? []
            let own = calendars.first { $0["isDefaultCalendar"] == true } ?? calendars.first
            guard let address = text(own?["owner"]?["address"]) else { throw unknown }
            return ProviderAccount(id: address, name: address)
        case .caldav, .apple: throw unknown
        }
    }

    private static let unknown = ProviderFailure(.malformed, "The provider does not say whose account it is.")

    private static func ask(
        _ url: String, _ grant: OAuthGrant, _ http: any ProviderHTTP
    ) async throws -> JSONValue {
        let request = ProviderRequest(
            "GET", url,
            headers: [("Authorization", "Bearer \(grant.accessToken.reveal())"), ("Accept", "application/json")],
            longestAnswer: 1 << 20)
        let answer: ProviderAnswer
        do throws(TransportFailure) { answer = try await http.send(request) } catch {
            throw ProviderFailure(error)
        }
        return try await http.read(answer) { answer throws(ProviderFailure) in
            guard answer.status == 200, let json = try? JSONValue(parsing: answer.body) else { throw unknown }
            return json
        }
    }

    /// Returns text that can be shown and stored; nil for anything else.
    private static func text(_ value: JSONValue?) -> String? {
        guard let text = value?.string, (1...320).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
        else { return nil }
        return text
    }
}
