// SPDX-License-Identifier: Apache-2.0

/// What a strict server refuses: the API allows it otherwise, and OWASP's ASVS 5.0 does not at level 2.
extension ServerSettings {
    /// The value of `Strict-Transport-Security` (RFC 6797 section 6.1); nil on plain http, where browsers ignore it.
    ///
    /// Subdomains often belong to other programs, so only a strict server includes them.
    package var transportPolicy: String? {
        guard isSecure else { return nil }
        return isStrict ? "max-age=31536000; includeSubDomains" : "max-age=31536000"
    }

    /// The allowed lifetimes of sign-in links, in seconds.
    package var linkLifetimes: ClosedRange<Int> { isStrict ? 1...600 : SignInLinks.lifetimes }

    /// Whether a sign-in with a password needs a second factor.
    package var needsSecondFactor: Bool { isStrict || requireSecondFactor }

    /// By how many steps of 30 seconds the clock of an authenticator app may be wrong, in either direction.
    ///
    /// RFC 6238 section 5.2 recommends one; a code that lasts 30 seconds, as ASVS requires, leaves no room for it.
    var codeTolerance: Int { isStrict ? 0 : 1 }

    /// The algorithm of new authenticator secrets; ASVS does not approve of SHA-1 for HMAC, and some apps know nothing else.
    var codeAlgorithm: OneTimeCode.Algorithm { isStrict ? .sha256 : .sha1 }

    /// How long a service key lasts, in milliseconds; nil for until it is revoked.
    var keyLifetime: Int? { isStrict ? 90 * 86_400_000 : nil }

    /// Whether messages may be sent to an address: a strict server sends nothing over a network without TLS.
    package func allowsMessages(to address: String) -> Bool { !isStrict || TokenSettings.isSafe(address) }

    /// Checks that nothing crosses a network without TLS.
    func checkStrictly(_ faults: inout [String]) {
        if !isSecure {
            faults.append("strict needs a publicURL with https://, or tlsCertificate and tlsKey.")
        }
        if tlsCertificate == nil, !Self.isLoopback(host) {
            faults.append(
                "strict allows a port without TLS only on this machine: give tlsCertificate and tlsKey, or 127.0.0.1 "
                    + "as host and a proxy beside it.")
        }
        if metricsPort != nil, !Self.isLoopback(host) {
            faults.append(
                "strict allows metricsPort, which has no TLS, only with 127.0.0.1 as host; the operator's socket has "
                    + "the metrics too.")
        }
        if allowHTTPImports { faults.append("strict and allowHTTPImports must not be given together.") }
        if tmrSessionCookie { faults.append("strict and tmrSessionCookie must not be given together.") }
        if let server, !server.contains("sslmode=verify-full") {
            faults.append("strict needs sslmode=verify-full in the database's address.")
        }
    }

    /// Whether a text names this machine only.
    private static func isLoopback(_ host: String) -> Bool {
        host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
    }
}
