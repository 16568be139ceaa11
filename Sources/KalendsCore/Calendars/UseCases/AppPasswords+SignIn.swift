// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

extension CalDAVCaller {
    init(_ password: AppPassword) {
        self.init(
            passwordID: password.id, number: password.number, userID: password.userID, mayWrite: password.mayWrite,
            circleIDs: password.circleIDs, own: password.reachesOwn)
    }
}

/// The outcome of checking a request's credentials at the CalDAV door.
package enum CalDAVSignIn: Sendable {
    case accepted(CalDAVCaller)
    /// 401: a wrong name or password, which counts as a guess.
    case refused
    /// 401 for ever: the password has ended, and does not count as a guess, because phones go on trying it for days.
    case ended
    /// 429: there were too many guesses.
    case wait(seconds: Int)
    /// 403: the password would go over the network in the clear.
    case needsTLS
}

extension AppPasswords {
    /// Checks a name and a password of Basic authentication (RFC 7617); an account's own password is never accepted.
    ///
    /// A right password never waits: guesses at 100 bits are hopeless, and nobody is kept out at home. Passwords that another
    /// server ended before this call are known to have ended. Throws 503 when the server lacks the key of the hashes.
    ///
    /// - Parameters:
    ///   - network: the caller's network, by which wrong passwords are counted.
    ///   - isSecure: whether the request came over TLS, to this server or to a trusted proxy.
    ///   - isLoopback: whether the caller is on this machine.
    package func signIn(
        name: String, password: String, from network: String, isSecure: Bool, isLoopback: Bool
    ) async throws -> CalDAVSignIn {
        guard isSecure || isLoopback else { return .needsTLS }
        let now = try await sharing?.confirm() ?? acts.now()
        if let secret = AppSecret(text: password) {
            let found: AppPasswordResolution
            do {
                found = try await ledger.resolve(secret, now: now)
            } catch SealingKey.Failure.wrongKey {
                throw Refusal(
                    .unavailable, code: .sealedByAnotherKey,
                    detail: "App passwords cannot be checked: they were made with a key other than the server's.")
            }
            switch found {
            case .live(let own) where own.userID == name: return .accepted(CalDAVCaller(own))
            case .ended: return .ended
            case .live, .unknown: break
            }
        }
        do {
            try await passwords.brake.refuse(
                app: password, of: Identifier.isValid(name) ? name : nil, from: network, now: acts.now())
            return .refused
        } catch let refusal as Refusal where refusal.kind == .tooMany {
            return .wait(seconds: refusal.retryAfter ?? 1)
        }
    }

    /// Records an access, which is every 200, 207 and 304 to PROPFIND, REPORT, GET and HEAD, and every 2xx to a write;
    /// returns once it is as durable as reads of feeds are.
    ///
    /// Throws 503 when that is not certain, and then the answer must not be sent.
    package func record(
        _ caller: CalDAVCaller, status: Int, userAgent: String?, from network: NetworkPrefix
    ) async throws {
        let access = FeedAccess(
            feed: caller.number, at: now(), client: ClientFamily(userAgent: userAgent).code, status: status,
            network: network)
        do {
            try await counter.count(access)
        } catch {
            throw Refusal.notRecorded
        }
    }
}

extension Refusal {
    /// An access that was not recorded is not answered.
    package static let notRecorded = Refusal(
        .unavailable, code: .readNotRecorded,
        detail: "The access could not be recorded, so nothing is returned.", retryAfter: 5)
}
