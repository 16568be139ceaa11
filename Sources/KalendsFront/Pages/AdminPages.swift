// SPDX-License-Identifier: Apache-2.0

import Calendar
import FeedTokens
import Hummingbird
import KalendsCore
import Pages
import Storage

/// The operator's page: figures, connections with problems, webhooks, keys and the audit trail.
struct AdminPages: Sendable {
    private static let path = "/app/admin"
    private static let auditEntriesOfPage = 50

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .operatorPages) { try await Self.page($0) }
        routes.page(.post, "\(Self.path)/keys", for: .operatorPages, back: Self.path, Self.createKey)
        routes.page(.post, "\(Self.path)/keys/{key}/revoke", for: .operatorPages, back: Self.path) { visit in
            _ = try await visit.services.serviceKeys.revoke(try visit.id("key"), for: try visit.caller())
            return visit.redirect(to: Self.path, done: .keyRevoked)
        }
        routes.page(.post, "\(Self.path)/erase", for: .operatorPages, back: Self.path, Self.erase)
        routes.page(.post, "\(Self.path)/sign-out", for: .operatorPages, back: Self.path) { visit in
            try await visit.services.operatorSessions.signOut(for: try visit.caller())
            return visit.redirect(to: "/app/sign-in", done: .signedOut)
                .with(cookies: OperatorCookie.removals(visit.services.settings))
        }
    }

    /// Makes a key that may do everything; only this answer shows it.
    private static func createKey(_ visit: PageVisit) async throws -> Response {
        do {
            let name = try KeyRoutes.read(["name": .string(visit.form["name"] ?? "")]).name
            let (_, secret) = try await visit.services.serviceKeys.create(
                name: name, scopes: nil, for: try visit.caller())
            return try await page(visit, newKey: secret.reveal())
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, ["name"]) else { throw refusal }
            return try await page(visit, draft: draft, status: .unprocessableContent)
        }
    }

    /// Asks about the person whose id was typed, and erases them once that is confirmed.
    private static func erase(_ visit: PageVisit) async throws -> Response {
        let user = String((visit.form["user"] ?? "").withoutOuterBlanks)
        guard Identifier.isValid(user) else { return visit.redirect(to: path) }
        guard visit.form["confirmed"]?.isSameText(as: user) == true else {
            return try await visit.page(ErasurePage(state: .ask(user: user)), path: path)
        }
        let report = try await visit.services.erasures.erase(user, for: try visit.caller())
        return try await visit.page(report.page, path: path)
    }

    private static func page(
        _ visit: PageVisit, newKey: String? = nil, draft: Draft = Draft(), status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let (services, now) = (visit.services, visit.services.now())
        let search = String((visit.query["q"] ?? "").withoutOuterBlanks.prefix(200))
        let before = visit.query["before"].flatMap { Int($0) } ?? .max
        try await services.audit.orderShared()
        var page = try await services.readForOperator(try visit.caller()) { all in
            let statistics = try all.statistics(services.settings.kinds, now: now)
            let entries = try all.audit(with: search, before: before, limit: auditEntriesOfPage + 1)
            let first = PageRequest(limit: 1000)
            var page = AdminPage(
                people: statistics.page, rates: statistics.runs.compactMap(\.page),
                history: try all.runHistory(now: now).map(\.page), troubles: try all.troubles.compactMap(\.trouble),
                webhooks: try all.list(services.webhooks, first).map { $0.shown.page(pending: $0.pending) },
                keys: try all.serviceKeys(first).map(\.page), audit: entries.prefix(auditEntriesOfPage).map(\.page),
                search: search,
                before: entries.count > auditEntriesOfPage ? entries[auditEntriesOfPage - 1].number : nil,
                newKey: newKey, draft: draft)
            page.accounts = try all.busiestAccounts(now: now).compactMap(\.page)
            return page
        }
        page.requests = try await services.syncContext.requestForecasts().compactMap(\.page)
        return try await visit.page(page, status: status, path: path)
    }
}

extension Statistics.Shown {
    fileprivate var page: AdminPage.People {
        AdminPage.People(
            users: people.users, withConnection: people.withConnection, withTwoWay: people.withTwoWay,
            withFeed: people.withFeed)
    }
}

extension Statistics.Runs {
    /// Nil for a provider that has no runs.
    fileprivate var page: AdminPage.Rate? {
        guard counted.runs > 0, let provider = Pages.Provider(text: provider.rawValue) else { return nil }
        return AdminPage.Rate(
            provider: provider, days: days, runs: counted.runs, successes: counted.successes, writes: counted.writes,
            errors: counted.errors)
    }
}

extension Statistics.Day {
    fileprivate var page: RunDay {
        RunDay(
            day: CivilDate(daysSinceEpoch: number), succeeded: counted.successes,
            failed: max(0, counted.runs - counted.successes))
    }
}

extension RequestForecast {
    fileprivate var page: AdminPage.Requests? {
        Pages.Provider(text: provider.rawValue).map {
            AdminPage.Requests(
                provider: $0, connections: day.connections, announced: day.pushed, sent: day.today.requests,
                succeeded: day.today.successes, wholeDay: total, limit: limit, factor: stretch, saved: saved)
        }
    }
}

extension AccountRequests {
    fileprivate var page: AdminPage.BusyAccount? {
        Pages.Provider(text: provider.rawValue).map {
            AdminPage.BusyAccount(id: connectionID, provider: $0, connections: connections, sent: requests)
        }
    }
}

extension Connection {
    fileprivate var trouble: AdminPage.Trouble? {
        guard let provider = Pages.Provider(text: provider.rawValue),
            let state = Pages.ConnectionState(text: state.rawValue)
        else { return nil }
        return AdminPage.Trouble(id: id, provider: provider, state: state, lastSyncAt: lastSyncAt, tries: failures)
    }
}

extension Webhooks.Shown {
    /// Only the host of an address is shown: the rest may be a secret.
    fileprivate func page(pending: Int) -> AdminPage.Webhook {
        let host = url.map { ($0.parted(at: "://")?.after ?? $0[...]).prefix { !"/?#".contains($0) } }
        return AdminPage.Webhook(
            host: host.map { String($0.pieces(separatedBy: "@").last ?? $0) } ?? hook.id,
            isFailing: !hook.isActive || hook.failingSince != nil, pending: pending, lastSentAt: hook.lastDeliveredAt)
    }
}

extension ServiceKey {
    fileprivate var page: AdminPage.Key {
        AdminPage.Key(id: id, name: name, createdAt: createdAt, lastUsedAt: lastUsedAt, revokedAt: revokedAt)
    }
}

extension AuditEntry {
    fileprivate var page: AdminPage.Audited {
        AdminPage.Audited(number: number, at: at, actor: actor, action: action, target: subject)
    }
}
