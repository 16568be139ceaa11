// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import FeedTokens
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// A provider of OpenID Connect as the specification has it, with what a test changes of its answers.
final class OpenIDServer: Sendable {
    /// How an ID token is signed.
    enum Signing: Sendable {
        case rsa, pss, elliptic, none
        case secret(String)
        case unknownKey
    }

    typealias Members = [ByteString: JSONValue]

    struct State: Sendable {
        var document: Members = [:]
        var signing = Signing.rsa
        /// What the ID token says besides what every token says; null removes a claim.
        var claims: Members = ["sub": "s-ann"]
        var userInfo: Members?
        var accessTokenHash = true
        /// In place of an answer with tokens.
        var refusal: (status: Int, error: String)?
        var givesIDToken = true
        var takesCodesTwice = false
        /// The name of the RSA key that signs, one of `rsaKeys`.
        var keyName = "r1"
        /// What the RSA key is for.
        var keyAlgorithm = "RS256"
        var codes: [String: [String: String]] = [:]
        var used: Set<String> = []
        var requests: [String: Int] = [:]
        var lastAuthorization: String?
        var lastForm: [String: String] = [:]
        /// Runs before the document is given.
        var beforeDocument: @Sendable () async throws -> Void = {}
        var beforeToken: @Sendable () async throws -> Void = {}
    }

    static let (clientID, clientSecret) = ("kalends", "a s:cret with + and %")

    private let state = Mutex(State())
    private let rsaKeys: [String: _RSA.Signing.PrivateKey]
    private let elliptic = P256.Signing.PrivateKey()
    private let unknown = P256.Signing.PrivateKey()
    private let clock: TestClock
    private let port = Mutex(0)

    var issuer: String { "http://127.0.0.1:\(port.withLock { $0 })" }

    init(_ clock: TestClock) throws {
        self.clock = clock
        rsaKeys = ["r1": try .init(keySize: .bits2048), "r2": try .init(keySize: .bits2048)]
    }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    func read<Value: Sendable>(_ read: (State) -> Value) -> Value { state.withLock { read($0) } }

    /// Runs a Kalends that signs people in here.
    static func run(
        _ change: @escaping @Sendable (inout OpenIDSettings) -> Void = { _ in },
        publicURL: String = "http://calendar.example",
        _ body: @escaping @Sendable (TestServer, OpenIDServer) async throws -> Void
    ) async throws {
        let clock = TestClock()
        let provider = try OpenIDServer(clock)
        let router = Router()
        router.get(".well-known/openid-configuration") { _, _ in
            try await provider.read(\.beforeDocument)()
            return try provider.document()
        }
        router.get("keys") { _, _ in try provider.keySet() }
        router.get("info") { request, _ in try provider.info(request) }
        router.post("token") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 16)
            try await provider.read(\.beforeToken)()
            return try provider.token(String(buffer: body), request.headers[.authorization])
        }
        let app = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)))
        try await app.test(.live) { client in
            let port = try #require(client.port)
            provider.port.withLock { $0 = port }
            var settings = ServerSettings()
            var own = OpenIDSettings(
                issuer: provider.issuer, clientID: clientID, clientSecret: Concealed(clientSecret))
            own.name = "Example & Co"
            change(&own)
            settings.openID = own
            try await TestServer.withPasswords(clock: clock, publicURL: publicURL, settings: settings) { server in
                try await body(server, provider)
            }
        }
    }

    // MARK: The browser

    /// Signs somebody in at the provider, and returns the path to which it sends the browser back.
    func consent(_ address: String) throws -> String {
        let parts = try #require(URLComponents(string: address))
        #expect(address.hasPrefix("\(issuer)/authorize?"))
        let query = Dictionary(uniqueKeysWithValues: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
        #expect(query["response_type"] == "code" && query["client_id"] == Self.clientID)
        #expect(query["code_challenge_method"] == "S256" && query["nonce"]?.utf8.count == 43)
        let code = UUID().uuidString
        change { $0.codes[code] = query }
        let back = try #require(query["redirect_uri"])
        #expect(back.hasSuffix("/app/sign-in/return"))
        let path = "/app/sign-in/return?code=\(code)&state=\(query["state"] ?? "")"
        return path + "&iss=\(issuer.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }

    // MARK: Answers

    private static func json(_ value: JSONValue, _ status: Int = 200) throws -> Response {
        Response(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try value.serialized())))
    }

    private func count(_ name: String) { change { $0.requests[name, default: 0] += 1 } }

    private func document() throws -> Response {
        count("document")
        let usual: Members = [
            "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
            "token_endpoint": .string("\(issuer)/token"), "jwks_uri": .string("\(issuer)/keys"),
            "userinfo_endpoint": .string("\(issuer)/info"), "end_session_endpoint": .string("\(issuer)/end?a=b"),
            "response_types_supported": ["code"], "id_token_signing_alg_values_supported": ["RS256", "PS256", "ES256"],
            "authorization_response_iss_parameter_supported": true,
        ]
        return try Self.json(.object(Self.merged(usual, read(\.document))))
    }

    private static func merged(_ own: Members, _ changes: Members) -> Members {
        own.merging(changes) { $1 }.filter { $0.value != .null }
    }

    private func keySet() throws -> Response {
        count("keys")
        let name = read(\.keyName)
        let key = try #require(rsaKeys[name]).publicKey
        let parts = try key.getKeyPrimitives()
        let point = elliptic.publicKey.rawRepresentation
        return try Self.json([
            "keys": [
                [
                    "kty": "RSA", "kid": .string(name), "use": "sig", "alg": .string(read(\.keyAlgorithm)),
                    "n": .string(Base64URL.encode(Array(parts.modulus))),
                    "e": .string(Base64URL.encode(Array(parts.publicExponent))),
                ],
                [
                    "kty": "EC", "crv": "P-256", "kid": "e1",
                    "x": .string(Base64URL.encode(Array(point.prefix(32)))),
                    "y": .string(Base64URL.encode(Array(point.suffix(32)))),
                ],
                ["kty": "oct", "kid": "oct", "alg": "HS256", "k": "c2VjcmV0LXRoYXQtZXZlcnlib2R5LWNhbi1yZWFk"],
            ]
        ])
    }

    private func info(_ request: Request) throws -> Response {
        count("info")
        #expect(request.headers[.authorization]?.hasPrefix("Bearer at-") == true)
        return try Self.json(.object(read(\.userInfo) ?? ["sub": "s-ann"]))
    }

    private func token(_ body: String, _ authorization: String?) throws -> Response {
        count("token")
        var parts = URLComponents()
        parts.percentEncodedQuery = body
        let form = Dictionary(uniqueKeysWithValues: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
        change { ($0.lastAuthorization, $0.lastForm) = (authorization, form) }
        if let refusal = read(\.refusal) {
            return try Self.json(
                ["error": .string(refusal.error), "error_description": "<b>hostile</b>"], refusal.status)
        }
        let code = form["code"] ?? ""
        guard let asked = read({ $0.codes[code] }), read({ $0.takesCodesTwice || !$0.used.contains(code) }),
            asked["redirect_uri"] == form["redirect_uri"],
            Base64URL.encode(Array(SHA256.hash(data: Data((form["code_verifier"] ?? "").utf8))))
                == asked["code_challenge"]
        else { return try Self.json(["error": "invalid_grant"], 400) }
        change { $0.used.insert(code) }
        let access = "at-\(code)"
        var answer: Members = ["access_token": .string(access), "token_type": "Bearer", "expires_in": 600]
        if read(\.givesIDToken) { answer["id_token"] = .string(try idToken(asked["nonce"] ?? "", access)) }
        return try Self.json(.object(answer))
    }

    private func idToken(_ nonce: String, _ access: String) throws -> String {
        let now = clock.now / 1000
        let half = Array(SHA256.hash(data: Data(access.utf8)).prefix(16))
        let usual: Members = [
            "iss": .string(issuer), "aud": .string(Self.clientID), "iat": .integer(now), "exp": .integer(now + 300),
            "nonce": .string(nonce), "at_hash": read(\.accessTokenHash) ? .string(Base64URL.encode(half)) : .null,
        ]
        let claims = Base64URL.encode(
            try JSONValue.object(Self.merged(usual, read(\.claims))).serialized())
        func signed(_ header: Members, _ sign: ([UInt8]) throws -> [UInt8]) throws -> String {
            let text = Base64URL.encode(try JSONValue.object(header).serialized()) + "." + claims
            return text + "." + Base64URL.encode(try sign(Array(text.utf8)))
        }
        switch read(\.signing) {
        case .rsa:
            let name = read(\.keyName)
            let key = try #require(rsaKeys[name])
            return try signed(["alg": "RS256", "kid": .string(name), "typ": "JWT"]) {
                Array(try key.signature(for: SHA256.hash(data: $0), padding: .insecurePKCS1v1_5).rawRepresentation)
            }
        case .pss:
            let name = read(\.keyName)
            let key = try #require(rsaKeys[name])
            return try signed(["alg": "PS256", "kid": .string(name)]) {
                Array(try key.signature(for: SHA256.hash(data: $0), padding: .PSS).rawRepresentation)
            }
        case .elliptic:
            return try signed(["alg": "ES256"]) { Array(try elliptic.signature(for: $0).rawRepresentation) }
        case .unknownKey:
            return try signed(["alg": "ES256", "kid": "e1"]) { Array(try unknown.signature(for: $0).rawRepresentation) }
        case .none: return try signed(["alg": "none"]) { _ in [] }
        case .secret(let secret):
            return try signed(["alg": "HS256"]) {
                Array(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: Data(secret.utf8))))
            }
        }
    }
}

extension Answer {
    /// Where a page leads on by itself.
    var onward: String {
        get throws {
            let name = try #require(HTTPField.Name("Refresh"))
            let field = try #require(headers[name])
            #expect(field.hasPrefix("0;url=") && headers[.location] == nil)
            return String(field.dropFirst(6))
        }
    }
}

extension Browser {
    /// Goes to the provider by a page's button; returns the address there.
    func leave(
        _ page: String = "/app/sign-in", by action: String = "/app/sign-in/provider", status: Int = 200
    ) async throws -> String {
        try await send(try await open(page).expect(status), to: action, follows: false).expect(200).onward
    }

    /// Signs in at a provider, and returns the answer to what it sent the browser back with.
    func signIn(
        at provider: OpenIDServer, from page: String = "/app/sign-in", by action: String = "/app/sign-in/provider"
    ) async throws -> Answer {
        try await open(try provider.consent(try await leave(page, by: action)), follows: false)
    }
}
