// SPDX-License-Identifier: Apache-2.0

/// `/app/admin?q=&before=`: the operator's page.
public struct AdminPage: Page {
    public struct People: Sendable {
        public var users: Int
        public var withConnection: Int
        public var withTwoWay: Int
        public var withFeed: Int

        public init(users: Int, withConnection: Int, withTwoWay: Int, withFeed: Int) {
            (self.users, self.withConnection, self.withTwoWay) = (users, withConnection, withTwoWay)
            self.withFeed = withFeed
        }
    }

    public struct Rate: Sendable {
        public var provider: Provider
        /// How many days are counted: the last 1, 7 or 30.
        public var days: Int
        public var runs: Int
        public var successes: Int
        public var writes: Int
        public var errors: Int

        public init(provider: Provider, days: Int, runs: Int, successes: Int, writes: Int, errors: Int) {
            (self.provider, self.days, self.runs, self.successes) = (provider, days, runs, successes)
            (self.writes, self.errors) = (writes, errors)
        }
    }

    public struct Trouble: Sendable {
        public var id: String
        public var provider: Provider
        public var state: ConnectionState
        public var lastSyncAt: Int?
        public var tries: Int

        public init(id: String, provider: Provider, state: ConnectionState, lastSyncAt: Int?, tries: Int) {
            (self.id, self.provider, self.state, self.lastSyncAt, self.tries) = (id, provider, state, lastSyncAt, tries)
        }
    }

    /// The requests to a provider today in UTC.
    public struct Requests: Sendable {
        public var provider: Provider
        public var connections: Int
        /// The number of connections whose provider announces changes.
        public var announced: Int
        public var sent: Int
        public var succeeded: Int
        /// How many the whole day needs, if intervals are not made longer.
        public var wholeDay: Int
        public var limit: Int?
        /// How many times as long the intervals are, and how many requests that makes.
        public var factor: Double
        public var saved: Int

        public init(
            provider: Provider, connections: Int, announced: Int, sent: Int, succeeded: Int, wholeDay: Int,
            limit: Int?, factor: Double = 1, saved: Int
        ) {
            (self.provider, self.connections, self.announced, self.sent) = (provider, connections, announced, sent)
            (self.succeeded, self.wholeDay, self.limit) = (succeeded, wholeDay, limit)
            (self.factor, self.saved) = (factor, saved)
        }
    }

    /// An account to which many requests were sent today.
    public struct BusyAccount: Sendable {
        /// The id of one of its connections.
        public var id: String
        public var provider: Provider
        public var connections: Int
        public var sent: Int

        public init(id: String, provider: Provider, connections: Int, sent: Int) {
            (self.id, self.provider, self.connections, self.sent) = (id, provider, connections, sent)
        }
    }

    public struct Webhook: Sendable {
        public var host: String
        public var isFailing: Bool
        public var pending: Int
        public var lastSentAt: Int?

        public init(host: String, isFailing: Bool, pending: Int, lastSentAt: Int?) {
            (self.host, self.isFailing, self.pending, self.lastSentAt) = (host, isFailing, pending, lastSentAt)
        }
    }

    public struct Key: Sendable {
        public var id: String
        public var name: String
        public var createdAt: Int
        public var lastUsedAt: Int?
        public var revokedAt: Int?

        public init(id: String, name: String, createdAt: Int, lastUsedAt: Int? = nil, revokedAt: Int? = nil) {
            (self.id, self.name, self.createdAt, self.lastUsedAt) = (id, name, createdAt, lastUsedAt)
            self.revokedAt = revokedAt
        }
    }

    public struct Audited: Sendable {
        public var number: Int
        public var at: Int
        public var actor: String
        public var action: String
        public var target: String

        public init(number: Int, at: Int, actor: String, action: String, target: String) {
            (self.number, self.at, self.actor, self.action, self.target) = (number, at, actor, action, target)
        }
    }

    public var people: People
    public var rates: [Rate]
    public var history: [RunDay]
    public var troubles: [Trouble]
    public var requests: [Requests]
    public var accounts: [BusyAccount]
    public var webhooks: [Webhook]
    public var keys: [Key]
    public var audit: [Audited]
    public var search: String
    /// The number before which the next part of the audit trail begins; nil on the last part.
    public var before: Int?
    /// A key that was just made; it is shown only once.
    public var newKey: String?
    /// The draft of the form that makes a key.
    public var draft: Draft

    public init(
        people: People, rates: [Rate], history: [RunDay], troubles: [Trouble], requests: [Requests] = [],
        accounts: [BusyAccount] = [], webhooks: [Webhook], keys: [Key], audit: [Audited], search: String = "",
        before: Int? = nil, newKey: String? = nil, draft: Draft = Draft()
    ) {
        (self.people, self.rates, self.history, self.troubles) = (people, rates, history, troubles)
        (self.webhooks, self.keys, self.audit, self.search, self.before) = (webhooks, keys, audit, search, before)
        (self.requests, self.accounts, self.newKey, self.draft) = (requests, accounts, newKey, draft)
    }

    public var showsSecret: Bool { newKey != nil }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let keyFields = [Field("name", words["keyName"], Field.text(), isRequired: true, most: TextLength.line)]
        return PageContent(
            template: "admin", title: words["adminTitle"], section: .admin,
            content: [
                "figures": .list(figures(paper)),
                "rates": rates.isEmpty ? .nothing : rateTable(paper),
                "history": history.isEmpty ? .nothing : paper.runs(history, title: words["runsPicture"]),
                "noRuns": history.isEmpty ? paper.emptyState("runsEmptyTitle", "adminRunsEmpty") : .nothing,
                "troubles": troubles.isEmpty ? .nothing : troubleTable(paper),
                "noTroubles": troubles.isEmpty ? .text(words["adminNoTroubles"]) : .nothing,
                "requests": requests.isEmpty ? .nothing : requestTable(paper),
                "noRequests": requests.isEmpty ? .text(words["adminNoRequests"]) : .nothing,
                "rarer": .list(rarer(paper)),
                "accounts": accounts.isEmpty ? .nothing : accountTable(paper),
                "webhooks": webhooks.isEmpty ? .nothing : webhookTable(paper),
                "noWebhooks": webhooks.isEmpty ? .text(words["adminNoWebhooks"]) : .nothing,
                "keys": keys.isEmpty ? .nothing : keyTable(paper),
                "newKey": .text(newKey),
                "createKey": paper.form(
                    "key", "/app/admin/keys", keyFields, submit: "actCreateKey", style: .plain, draft: draft),
                "erase": paper.form(
                    "erase-form", "/app/admin/erase",
                    [Field("user", words["accountUser"], Field.text(), isRequired: true, most: 128)],
                    submit: "actErasePerson", style: .plain),
                "search": paper.form(
                    "search", "/app/admin",
                    [
                        Field(
                            "q", words["auditSearch"], Field.text(), value: search, hint: words["auditSearchHint"],
                            most: 200)
                    ],
                    submit: "actSearch", style: .plain, isSearch: true),
                "audit": audit.isEmpty ? .nothing : auditTable(paper),
                "noAudit": audit.isEmpty ? paper.emptyState("auditEmptyTitle", "auditEmptyText") : .nothing,
                "more": before.map {
                    paper.linkButton("actOlder", "/app/admin?q=\(search.pathSegment)&before=\($0)#audit")
                } ?? .nothing,
            ], scripts: newKey == nil ? [] : ["copy"], problems: paper.problems(draft, in: "key", keyFields))
    }
}
