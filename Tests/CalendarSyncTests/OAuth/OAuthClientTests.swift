// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Testing

@testable import CalendarSync

@Suite struct OAuthClientTests {
    private let now = Instant(seconds: 1_790_000_000)
    private let attempt = OAuthAttempt(random: Array(0..<64))
    private let redirect = "https://kalends.example/v1/connections/callback"
    private let google = OAuthApplication.google(clientID: "our-client", clientSecret: Concealed("GOCSPX-x"))

    private func exchange(
        _ steps: ScriptedHTTP.Step..., application: OAuthApplication? = nil
    ) async throws(ProviderFailure) -> OAuthGrant {
        let client = OAuthClient(application ?? google, http: ScriptedHTTP(steps))
        return try await client.exchange(
            code: Concealed("4/0A"), verifier: attempt.verifier, scopes: GoogleScope.all, redirectURI: redirect,
            now: now)
    }

    private func failure(
        _ status: Int, _ body: String, _ headers: [(name: String, value: String)] = []
    ) async -> ProviderFailure? {
        do throws(ProviderFailure) {
            _ = try await exchange(.answer(status, body, headers))
            return nil
        } catch {
            return error
        }
    }

    @Test("The challenge is that of RFC 7636 appendix B")
    func challenge() {
        let attempt = OAuthAttempt(
            state: Concealed("s"), verifier: Concealed("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(attempt.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(self.attempt.verifier.reveal().utf8.count == 43)
        #expect(self.attempt.state != self.attempt.verifier)
    }

    @Test("Google's authorize address has the fields that Google's own library sends")
    func authorizeGoogle() throws {
        let client = OAuthClient(google, http: ScriptedHTTP([]))
        let url = client.authorizeURL(
            for: attempt, scopes: GoogleScope.all, redirectURI: redirect, loginHint: "a+b@example.test")
        let items = try #require(URLComponents(string: url)?.queryItems)
        let fields = Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") })
        #expect(
            fields == [
                "client_id": "our-client", "redirect_uri": redirect, "response_type": "code",
                "scope": GoogleScope.all.joined(separator: " "), "state": attempt.state.reveal(),
                "code_challenge": attempt.challenge, "code_challenge_method": "S256", "access_type": "offline",
                "prompt": "consent", "include_granted_scopes": "true", "login_hint": "a+b@example.test",
            ])
        #expect(url.hasPrefix("https://accounts.google.com/o/oauth2/v2/auth?"))
        #expect(!url.contains(attempt.verifier.reveal()))
    }

    @Test("Microsoft's addresses hold the tenant as one segment, and its page asks which account is meant")
    func addressesMicrosoft() {
        let application = OAuthApplication.microsoft(
            clientID: "c", clientSecret: nil, tenant: "a/../b", loginURL: "http://127.0.0.1:9/")
        #expect(application.tokenURL == "http://127.0.0.1:9/a%2F..%2Fb/oauth2/v2.0/token")
        let url = OAuthClient(application, http: ScriptedHTTP([])).authorizeURL(
            for: attempt, scopes: ["offline_access", "Calendars.ReadWrite"], redirectURI: redirect)
        #expect(url.hasPrefix("http://127.0.0.1:9/a%2F..%2Fb/oauth2/v2.0/authorize?client_id=c&"))
        #expect(url.contains("&response_mode=query&prompt=select_account"))
        #expect(url.contains("&scope=offline_access%20Calendars.ReadWrite&"))
    }

    @Test("A code is exchanged with the verifier, and the grant has what the answer says")
    func exchanged() async throws {
        let http = ScriptedHTTP([
            .answer(
                200,
                #"{"access_token":"ya29.a","expires_in":3599,"refresh_token":"1//0r","scope":"a b","token_type":"Bearer"}"#
            )
        ])
        let grant = try await OAuthClient(google, http: http).exchange(
            code: Concealed("4/0A&x"), verifier: attempt.verifier, scopes: GoogleScope.all, redirectURI: redirect,
            now: now
        )
        #expect(grant.accessToken.reveal() == "ya29.a")
        #expect(grant.refreshToken?.reveal() == "1//0r")
        #expect(grant.expiresAt == now.adding(seconds: 3599))
        #expect(grant.scopes == ["a", "b"])
        let request = try #require(http.requests.first)
        #expect(request.url == "https://oauth2.googleapis.com/token")
        #expect(
            request.form == [
                "grant_type": "authorization_code", "code": "4/0A&x", "redirect_uri": redirect,
                "code_verifier": attempt.verifier.reveal(), "client_id": "our-client", "client_secret": "GOCSPX-x",
            ])
    }

    @Test(
        "A lifetime is clamped, and text for a number is read",
        arguments: [
            ("\"3599\"", 3599), ("-5", 120), ("0", 120), ("9e15", 86_400), ("null", 3600), ("\"soon\"", 3600),
        ])
    func lifetimes(_ text: String, _ seconds: Int) async throws {
        let grant = try await exchange(
            .answer(200, #"{"access_token":"a","expires_in":\#(text),"token_type":"bearer"}"#))
        #expect(grant.expiresAt == now.adding(seconds: seconds))
        #expect(grant.scopes == GoogleScope.all)
    }

    @Test(
        "Only the provider's code for a dead grant means that the person must act",
        arguments: [
            (400, #"{"error":"invalid_grant","error_description":"x"}"#, ProviderFailure.Kind.unauthorized),
            (400, #"{"error":"interaction_required"}"#, .unauthorized),
            (401, #"{"error":"invalid_client"}"#, .misconfigured),
            (401, #"{"error":"deleted_client"}"#, .misconfigured),
            (400, #"{"error":"temporarily_unavailable"}"#, .unavailable(retryAfter: nil)),
            (500, #"{"error":"invalid_grant"}"#, .unavailable(retryAfter: nil)),
            (502, "<html>", .unavailable(retryAfter: nil)),
            (429, "", .throttled(retryAfter: nil)),
            (400, #"{"error":{"code":"invalid_grant"}}"#, .refused),
            (400, "not JSON", .refused),
            (302, "", .refused),
            (200, "", .malformed),
            (200, #"{"access_token":"a"}"#, .malformed),
            (200, #"{"access_token":"a\r\nX: y","token_type":"Bearer"}"#, .malformed),
            (200, #"{"access_token":"","token_type":"Bearer"}"#, .malformed),
            (200, #"{"access_token":"a","token_type":"mac"}"#, .malformed),
            (200, #"{"access_token":"a","token_type":"Bearer","refresh_token":7}"#, .malformed),
            (200, #"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#, .malformed),
        ])
    func failures(_ status: Int, _ body: String, _ kind: ProviderFailure.Kind) async {
        #expect(await failure(status, body)?.kind == kind)
    }

    @Test(
        "The wait that an answer asks for is taken, a day at most",
        arguments: [
            ("7", 7), ("999999999", 86_400), ("-1", nil), ("Fri, 31 Dec 1999 23:59:59 GMT", nil), ("", nil),
        ] as [(String, Int?)])
    func waits(_ text: String, _ seconds: Int?) async {
        #expect(await failure(503, "", [("retry-after", text)])?.kind == .unavailable(retryAfter: seconds))
    }

    @Test("A missing answer decides nothing about the grant")
    func transport() async {
        for (transport, kind) in [
            (TransportFailure.neverSent("x"), ProviderFailure.Kind.unreachable), (.unanswered("x"), .unanswered),
            (.tooLong, .malformed),
        ] {
            await #expect { _ = try await self.exchange(.failure(transport)) } throws: {
                ($0 as? ProviderFailure)?.kind == kind
            }
        }
    }

    @Test("A refresh keeps the refresh token unless another one comes, and the scopes likewise")
    func refreshed() async throws {
        let http = ScriptedHTTP([
            .answer(200, #"{"access_token":"second","expires_in":3599,"token_type":"Bearer"}"#),
            .answer(200, #"{"access_token":"third","refresh_token":"new","scope":"a","token_type":"Bearer"}"#),
        ])
        let client = OAuthClient(google, http: http)
        let first = OAuthGrant(
            accessToken: Concealed("first"), refreshToken: Concealed("old"), expiresAt: now, scopes: ["a", "b"])
        let second = try await client.refresh(first, now: now)
        #expect(second.refreshToken?.reveal() == "old")
        #expect(second.scopes == ["a", "b"])
        let third = try await client.refresh(second, now: now)
        #expect(third.refreshToken?.reveal() == "new")
        #expect(third.scopes == ["a"])
        #expect(http.requests.map { $0.form["refresh_token"] } == ["old", "old"])
    }

    @Test("What a person did not allow is found, however the provider spells what they did")
    func partialConsent() {
        #expect(
            google.missing(of: GoogleScope.all, in: [GoogleScope.events]) == [
                GoogleScope.calendarList, GoogleScope.ownCalendars,
            ])
        #expect(google.missing(of: GoogleScope.all, in: ["https://www.googleapis.com/auth/calendar"]).isEmpty)
        let microsoft = OAuthApplication.microsoft(clientID: "c", clientSecret: nil)
        let wanted = ["offline_access", "Calendars.ReadWrite", "User.Read"]
        #expect(microsoft.missing(of: wanted, in: ["https://graph.microsoft.com/calendars.readwrite"]) == ["User.Read"])
        #expect(microsoft.missing(of: wanted, in: ["User.Read", "Calendars.ReadWrite"]).isEmpty)
    }

    @Test("A revocation sends the refresh token, and only a passing failure counts")
    func revoked() async throws {
        let grant = OAuthGrant(accessToken: Concealed("a"), refreshToken: Concealed("r"), expiresAt: now, scopes: [])
        let http = ScriptedHTTP([.answer(200, ""), .answer(400, "{}"), .answer(503, "")])
        let client = OAuthClient(google, http: http)
        try await client.revoke(grant)
        try await client.revoke(grant)
        await #expect(throws: ProviderFailure.self) { try await client.revoke(grant) }
        #expect(http.requests.map(\.url) == Array(repeating: "https://oauth2.googleapis.com/revoke", count: 3))
        #expect(http.requests[0].form == ["token": "r"])
    }

    @Test("Printing a grant in any way shows no token")
    func hidden() {
        let grant = OAuthGrant(
            accessToken: Concealed("ya29.canary"), refreshToken: Concealed("1//canary"), expiresAt: now, scopes: [])
        var dumped = ""
        dump(grant, to: &dumped)
        dump(attempt, to: &dumped)
        for text in ["\(grant)", String(reflecting: grant), "\(attempt)", String(reflecting: google), dumped] {
            #expect(!text.contains("canary"))
            #expect(!text.contains("GOCSPX"))
            #expect(!text.contains(attempt.verifier.reveal()))
        }
        #expect(OAuthGrant(unsealedBytes: grant.unsealedBytes()) == grant)
        #expect(OAuthGrant(unsealedBytes: []) == nil)
    }

    @Test("What the browser brings back is taken only with one plausible state")
    func returns() {
        #expect(OAuthReturn(query: [("code", "c")]) == nil)
        #expect(OAuthReturn(query: [("code", "c"), ("state", "a"), ("state", "b")]) == nil)
        #expect(OAuthReturn(query: [("code", "c"), ("state", String(repeating: "a", count: 257))]) == nil)
        #expect(OAuthReturn(query: [("code", "c"), ("state", "s")]) == .code(Concealed("c"), state: Concealed("s")))
        #expect(OAuthReturn(query: [("error", "access_denied"), ("state", "s")]) == .denied(state: Concealed("s")))
        guard case .failed(let failure, _) = OAuthReturn(query: [("code", "c"), ("error", "x\ny"), ("state", "s")])
        else {
            Issue.record("A code beside an error is taken.")
            return
        }
        #expect(failure.code == nil)
    }
}
