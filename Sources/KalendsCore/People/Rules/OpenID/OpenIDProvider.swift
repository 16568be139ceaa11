// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Synchronization

/// The provider at which people sign in: its document and keys, which are kept, and the questions to it.
final class OpenIDProvider: Sendable {
    /// The longest answer in bytes.
    static let longest = 256 << 10
    static let patience = Duration.seconds(10)

    let settings: OpenIDSettings
    private let http: any ProviderHTTP
    private let leastBits: Int
    private let metadata: KeptDocument<OpenIDMetadata>
    /// Why the document could not be had.
    private let fault: OpenIDFaultNote
    /// The keys at the address that the document named last.
    private let keys = Mutex<(address: String, keys: KeyAddress)?>(nil)
    /// How often a network ends sign-ins, each of which asks the provider: thirty at once, then one in two seconds.
    private let pace = RateLimit(burst: 30, span: 2_000)

    /// - Parameters:
    ///   - http: sends to the hosts that the settings allow, and to no others of a private network.
    ///   - leastBits: the shortest modulus of an RSA key.
    init(_ settings: OpenIDSettings, _ http: any ProviderHTTP, leastBits: Int) {
        (self.settings, self.http, self.leastBits) = (settings, http, leastBits)
        let unreachable = Self.unreachable
        let (fault, issuer) = (OpenIDFaultNote(unreachable), settings.issuer)
        self.fault = fault
        metadata = KeptDocument {
            let address = OAuthApplication.withoutSlash(issuer) + "/.well-known/openid-configuration"
            guard let document = await Self.document(address, http) else {
                fault.write(unreachable)
                return nil
            }
            do throws(OpenIDFault) {
                return try OpenIDMetadata(document, of: issuer)
            } catch {
                fault.write(error)
                return nil
            }
        }
    }

    /// Returns what the provider says about itself.
    ///
    /// - Parameter now: milliseconds since 1970.
    func metadata(now: Int) async throws(OpenIDFault) -> OpenIDMetadata {
        guard let known = await metadata.value(now: now) else { throw fault.read() }
        return known
    }

    /// Returns the client for one sign-in.
    func client(_ metadata: OpenIDMetadata) -> OAuthClient {
        OAuthClient(
            .openID(
                clientID: settings.clientID, clientSecret: settings.clientSecret, authorizeURL: metadata.authorizeURL,
                tokenURL: metadata.tokenURL, identifiesInHeader: metadata.identifiesInHeader), http: http)
    }

    /// Redeems a code, and returns what the provider says about the person.
    ///
    /// - Parameters:
    ///   - network: the caller's network, which limits how often the provider is asked.
    ///   - now: milliseconds since 1970.
    func redeem(
        _ code: Concealed, of attempt: ProviderAttempt, redirectURI: String, from network: String, now: Int
    ) async throws(OpenIDFault) -> (IDToken, OAuthGrant) {
        let metadata = try await metadata(now: now)
        guard (try? pace.take(network, now: now, "Sign-ins are ended")) != nil else {
            throw OpenIDFault(.unavailable, "A network ends sign-ins too often.")
        }
        let redeemed: OAuthGrant?
        do {
            redeemed = try await within(Self.patience) {
                try await self.client(metadata).exchange(
                    code: code, verifier: attempt.oauth.verifier, scopes: self.settings.scopes,
                    redirectURI: redirectURI, now: Instant(seconds: now / 1000))
            }
        } catch {
            throw (error as? ProviderFailure).map { OpenIDFault($0) } ?? Self.late
        }
        guard let grant = redeemed else { throw Self.late }
        guard let text = grant.idToken, let token = SignedToken(text, longest: SignedToken.longestIDToken),
            token.algorithm != .hs256
        else { throw OpenIDFault(.failed, "The provider gave no ID token that is signed with RS256, PS256 or ES256.") }
        guard await keys(at: metadata.keysURL).keys(for: token, now: now).contains(where: { $0.verifies(token) }) else {
            throw OpenIDFault(.failed, "The ID token is signed with none of the provider's keys.")
        }
        return (try IDToken(token, by: settings, for: attempt, with: grant.accessToken, now: now), grant)
    }

    /// Returns what the provider says about the person in addition to the ID token; an empty object where it says no more.
    func userInfo(_ token: IDToken, _ grant: OAuthGrant, now: Int) async throws(OpenIDFault) -> JSONValue {
        guard let address = try await metadata(now: now).userInfoURL else { return [:] }
        let bearer = (name: "Authorization", value: "Bearer \(grant.accessToken.reveal())")
        guard let claims = await Self.document(address, http, bearer) else {
            throw OpenIDFault(.unavailable, "The provider did not return more about the person.")
        }
        guard claims["sub"] == .string(token.subject) else {
            throw OpenIDFault(.failed, "The provider's answer is about another person.")
        }
        return claims
    }

    private func keys(at address: String) -> KeyAddress {
        keys.withLock { [http, leastBits] known in
            if let known, known.address.isSameText(as: address) { return known.keys }
            let new = KeyAddress(leastBits: leastBits) { await Self.bytes(address, http) }
            known = (address, new)
            return new
        }
    }

    private static let late = OpenIDFault(.unavailable, "The provider did not redeem the code in time.")
    private static let unreachable = OpenIDFault(.unavailable, "The provider's discovery document cannot be fetched.")

    private static func document(
        _ address: String, _ http: any ProviderHTTP, _ header: (name: String, value: String)? = nil
    ) async -> JSONValue? {
        guard let bytes = await bytes(address, http, header) else { return nil }
        let read = try? await ForeignAnswers.threads.run(for: "provider") { try JSONValue(parsing: bytes) }
        return read.flatMap { $0.object == nil ? nil : $0 }
    }

    /// Returns the body of an answer with status 200.
    private static func bytes(
        _ address: String, _ http: any ProviderHTTP, _ header: (name: String, value: String)? = nil
    ) async -> [UInt8]? {
        let accept = (name: "Accept", value: "application/json")
        let request = ProviderRequest(
            "GET", address, headers: [accept] + [header].compactMap(\.self), longestAnswer: longest)
        guard let answer = try? await within(patience, { try await http.send(request) }), answer.status == 200 else {
            return nil
        }
        return answer.body
    }
}

/// The latest reason why a document could not be had.
private final class OpenIDFaultNote: Sendable {
    private let fault: Mutex<OpenIDFault>

    init(_ fault: OpenIDFault) { self.fault = Mutex(fault) }

    func write(_ new: OpenIDFault) { fault.withLock { $0 = new } }
    func read() -> OpenIDFault { fault.withLock { $0 } }
}

extension OpenIDFault {
    fileprivate init(_ failure: ProviderFailure) {
        switch failure.kind {
        case .misconfigured: self.init(.failed, "The provider does not accept oidcClientID and oidcClientSecret.")
        case .unauthorized: self.init(.begunElsewhere, "The provider no longer accepts the code.")
        case .throttled, .unavailable, .unreachable, .unanswered, .busy:
            self.init(.unavailable, "The provider does not redeem codes at present.")
        default: self.init(.failed, "The provider refused to redeem the code.")
        }
    }
}
