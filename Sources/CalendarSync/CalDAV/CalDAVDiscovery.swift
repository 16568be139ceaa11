// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Finds an account's principal and calendar homes (RFC 6764 section 6, RFC 5397, RFC 4791 section 6.2.1).
public struct CalDAVDiscovery: Sendable {
    private let entrance: DAVAddress
    private let username: String
    private let password: String
    private let http: any ProviderHTTP
    private let clock: @Sendable () -> Int
    private let services: (any CalDAVServices)?

    /// The maximum number of homes.
    private static let homeLimit = 8

    /// - Parameters:
    ///   - url: an address with or without `https://`; discovery begins at its path, if it has one.
    ///   - services: looks up where a domain's calendars are; nil to look only at the address.
    /// - Throws: `refused` for a text that is not an address, or for an address that would get the password in plain
    ///   text.
    public init(
        url: String, username: String, password: String, http: any ProviderHTTP,
        clock: @escaping @Sendable () -> Int, services: (any CalDAVServices)? = nil
    ) throws(ProviderFailure) {
        let text = url.split(whereSeparator: \.isWhitespace).joined()
        let isWhole = text.lowercased().hasPrefix("https://") || text.lowercased().hasPrefix("http://")
        guard let entrance = DAVAddress(isWhole ? text : "https://\(text)") else {
            throw ProviderFailure(.refused, "That is not the address of a calendar server.", code: "not-an-address")
        }
        guard entrance.isSecure || entrance.isLoopback else {
            throw ProviderFailure(.refused, "A password is sent only over https.", code: "https-required")
        }
        self.entrance = entrance
        (self.username, self.password) = (username, password)
        (self.http, self.clock, self.services) = (http, clock, services)
        // Credentials that cannot be sent are refused before the first request.
        _ = try DAVSession(
            realm: DAVRealm(entrance), username: username, password: password, http: http, clock: clock)
    }

    /// Finds the account. If the address is only a domain, the domain's own records of its calendars come first.
    /// Nothing is stored.
    ///
    /// - Throws: `unauthorized` at once for a wrong password; `refused` with `no-caldav` where there is no calendar
    ///   server, and with `other-host` where one leads to a host that does not belong to the address.
    public func account() async throws(ProviderFailure) -> CalDAVAccount {
        var worst: ProviderFailure?
        for service in await named() {
            guard let address = DAVAddress("https://\(service.host):\(service.port)/") else { continue }
            guard DAVRealm.belongs(address.host, to: entrance.host) else {
                // The answer of a name server is not a reason to give a password to someone else.
                worst = worst ?? Self.other(address)
                continue
            }
            do {
                let paths = [service.path, Self.wellKnown, "/"].compactMap(\.self)
                return try await account(at: address, paths)
            } catch {
                switch error.kind {
                // A wrong password is not tried twice.
                case .unauthorized, .throttled, .busy: throw error
                default: worst = worst ?? error
                }
            }
        }
        var paths = [Self.wellKnown, "/", "/remote.php/dav/", "/dav/", "/caldav/", "/caldav.php/"]
        if entrance.path != "/" { paths.insert(entrance.path, at: 0) }
        do {
            return try await account(at: entrance, paths)
        } catch {
            switch error.kind {
            case .unauthorized, .throttled, .busy: throw error
            // A failure at a service that the domain names says more than that nothing was found.
            default: throw worst ?? error
            }
        }
    }

    private static let wellKnown = "/.well-known/caldav"

    /// Returns the domain's own records of its calendars, if the address is only a domain.
    private func named() async -> [CalDAVService] {
        guard let services, entrance.isSecure, entrance.port == 443, entrance.path == "/", entrance.isName else {
            return []
        }
        return await services.services(of: entrance.host)
    }

    private static func other(_ address: DAVAddress) -> ProviderFailure {
        ProviderFailure(
            .refused,
            "This domain's calendars are at another host, \(address.host). If that is right, connect with it.",
            code: "other-host")
    }

    private func account(at entrance: DAVAddress, _ paths: [String]) async throws(ProviderFailure) -> CalDAVAccount {
        let session = try DAVSession(
            realm: DAVRealm(entrance), username: username, password: password, http: http, clock: clock)
        let principal = try await principal(paths, at: entrance, session)
        let properties = ["C:calendar-home-set", "D:displayname"]
        return try await session.multistatus(.propfind("0", properties), at: principal) {
            found, address throws(ProviderFailure) in
            guard let response = found.responses.first else { throw Self.none }
            let hrefs = response.property(.caldav, "calendar-home-set")?.hrefs ?? []
            var homes: [DAVAddress] = []
            for href in hrefs where homes.count < Self.homeLimit {
                guard let home = DAVAddress(href, relativeTo: address)?.collection, session.realm.allows(home),
                    !homes.contains(home)
                else { continue }
                homes.append(home)
            }
            guard !homes.isEmpty else { throw Self.none }
            return CalDAVAccount(
                principal: principal.text, homes: homes.map(\.text),
                name: response.text(.dav, "displayname").map { String($0.unicodeScalars.prefix(200)) },
                entrance: entrance.text)
        }
    }

    private static let none = ProviderFailure(.refused, "There are no calendars at that address.", code: "no-caldav")

    /// Tries some paths of a host: those that the person or the domain named, the well-known one, the root, and those
    /// of widespread servers.
    private func principal(
        _ paths: [String], at entrance: DAVAddress, _ session: DAVSession
    ) async throws(ProviderFailure) -> DAVAddress {
        var worst: ProviderFailure?
        for path in paths {
            guard let address = entrance.with(path: path) else { continue }
            do {
                if let found = try await principal(at: address, session) { return found }
            } catch {
                switch error.kind {
                // None of these improves at another path, and a wrong password is not tried twice.
                case .unauthorized, .throttled, .unreachable, .unanswered, .busy: throw error
                case .unavailable: worst = worst ?? error
                default: worst = worst ?? (error.code == "other-host" ? error : nil)
                }
            }
        }
        throw worst ?? Self.none
    }

    private func principal(
        at address: DAVAddress, _ session: DAVSession
    ) async throws(ProviderFailure) -> DAVAddress? {
        let properties = ["D:current-user-principal", "D:principal-URL", "D:resourcetype"]
        let (answer, finalAddress) = try await session.send(.propfind("0", properties), to: address)
        guard answer.status == 207 else {
            if answer.status == 429 || answer.status >= 500 { throw session.failure(answer) }
            return nil
        }
        let found = try await session.multistatus(answer) { found throws(ProviderFailure) -> DAVAddress? in
            guard let response = found.responses.first else { return nil }
            let principal = response.property(.dav, "current-user-principal")
            if principal?.child(.dav, "unauthenticated") != nil {
                throw ProviderFailure(.unauthorized, "The server does not accept the user name and password.")
            }
            // On servers without RFC 5397, the person may enter the principal's own address.
            let href = principal?.hrefs.first ?? response.property(.dav, "principal-URL")?.hrefs.first
            return href.flatMap { DAVAddress($0, relativeTo: finalAddress) }
        }
        guard let found else { return nil }
        guard session.realm.allows(found) else {
            throw ProviderFailure(
                .refused, "The server leads to another host. If that host is right, connect with its address.",
                code: "other-host")
        }
        return found
    }
}
