// SPDX-License-Identifier: Apache-2.0

/// Finds an account's principal and calendar homes (RFC 6764 section 6, RFC 5397, RFC 4791 section 6.2.1).
public struct CalDAVDiscovery: Sendable {
    private let entrance: DAVAddress
    private let session: DAVSession

    /// Homes that are taken at most.
    private static let homeLimit = 8

    /// - Parameter url: an address with or without `https://`; its path is where the look begins, if it has one.
    /// - Throws: `refused` for an address that is not one, or that would carry the password in clear.
    public init(
        url: String, username: String, password: String, http: any ProviderHTTP, clock: @escaping @Sendable () -> Int
    ) throws(ProviderFailure) {
        let text = url.split(whereSeparator: \.isWhitespace).joined()
        let isWhole = text.lowercased().hasPrefix("https://") || text.lowercased().hasPrefix("http://")
        guard let entrance = DAVAddress(isWhole ? text : "https://\(text)") else {
            throw ProviderFailure(.refused, "That is not the address of a calendar server.", code: "not-an-address")
        }
        guard entrance.isSecure || entrance.isLoopback else {
            throw ProviderFailure(.refused, "A password is sent over https only.", code: "https-required")
        }
        self.entrance = entrance
        session = try DAVSession(
            realm: DAVRealm(entrance), username: username, password: password, http: http, clock: clock)
    }

    /// Asks the server. Nothing is kept.
    ///
    /// - Throws: `unauthorized` for a wrong password at once; `refused` with `no-caldav` where no calendar server is.
    public func account() async throws(ProviderFailure) -> CalDAVAccount {
        let principal = try await principal()
        let properties = ["C:calendar-home-set", "D:displayname"]
        let (found, address) = try await session.multistatus(.propfind("0", properties), at: principal)
        guard let response = found.responses.first else { throw Self.none }
        var homes: [DAVAddress] = []
        for href in response.property(.caldav, "calendar-home-set")?.hrefs ?? [] {
            guard homes.count < Self.homeLimit, let home = DAVAddress(href, relativeTo: address)?.collection,
                session.realm.allows(home), !homes.contains(home)
            else { continue }
            homes.append(home)
        }
        guard !homes.isEmpty else { throw Self.none }
        return CalDAVAccount(
            principal: principal.text, homes: homes.map(\.text),
            name: response.text(.dav, "displayname").map { String($0.unicodeScalars.prefix(200)) },
            entrance: entrance.text)
    }

    private static let none = ProviderFailure(.refused, "There are no calendars at that address.", code: "no-caldav")

    /// Tries the person's own path, the well-known address, the root, and the paths of widespread servers.
    private func principal() async throws(ProviderFailure) -> DAVAddress {
        var paths = ["/.well-known/caldav", "/", "/remote.php/dav/", "/dav/", "/caldav/", "/caldav.php/"]
        if entrance.path != "/" { paths.insert(entrance.path, at: 0) }
        var worst: ProviderFailure?
        for path in paths {
            guard let address = entrance.with(path: path) else { continue }
            do {
                if let found = try await principal(at: address) { return found }
            } catch {
                switch error.kind {
                // None of these gets better at another path, and a wrong password is not tried twice.
                case .unauthorized, .throttled, .unreachable, .unanswered: throw error
                case .unavailable: worst = worst ?? error
                default: worst = worst ?? (error.code == "other-host" ? error : nil)
                }
            }
        }
        throw worst ?? Self.none
    }

    private func principal(at address: DAVAddress) async throws(ProviderFailure) -> DAVAddress? {
        let properties = ["D:current-user-principal", "D:principal-URL", "D:resourcetype"]
        let (answer, place) = try await session.send(.propfind("0", properties), to: address)
        guard answer.status == 207 else {
            if answer.status == 429 || answer.status >= 500 { throw session.failure(answer) }
            return nil
        }
        guard let response = try DAVSession.multistatus(answer.body).responses.first else { return nil }
        let principal = response.property(.dav, "current-user-principal")
        if principal?.child(.dav, "unauthenticated") != nil {
            throw ProviderFailure(.unauthorized, "The server does not accept the user name and password.")
        }
        // A principal's own address may be given by the person, on servers without RFC 5397.
        let href = principal?.hrefs.first ?? response.property(.dav, "principal-URL")?.hrefs.first
        guard let href, let found = DAVAddress(href, relativeTo: place) else { return nil }
        guard session.realm.allows(found) else {
            throw ProviderFailure(
                .refused, "The server leads to another host. If it is right, connect with that host's address.",
                code: "other-host")
        }
        return found
    }
}
