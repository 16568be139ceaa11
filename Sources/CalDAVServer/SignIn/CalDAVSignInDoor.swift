// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

/// Who knows app passwords, and counts what they were used for.
protocol CalDAVSignInDoor: Sendable {
    /// Checks a name and a password.
    ///
    /// - Parameters:
    ///   - network: the caller's network, by which wrong passwords are counted.
    ///   - isSecure: whether the request came over TLS, to this server or to a trusted proxy.
    ///   - isLoopback: whether the caller is on this machine.
    func signIn(
        name: String, password: String, from network: String, isSecure: Bool, isLoopback: Bool
    ) async throws -> CalDAVSignIn

    /// Records an access before its answer leaves; throws if that is not certain.
    func record(
        _ caller: CalDAVCaller, status: Int, userAgent: String?, from network: NetworkPrefix
    ) async throws
}
