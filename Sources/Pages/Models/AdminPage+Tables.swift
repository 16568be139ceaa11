// SPDX-License-Identifier: Apache-2.0

extension AdminPage {
    func figures(_ paper: RenderContext) -> [Node] {
        let words = paper.words
        let shares = [
            ("adminConnected", people.withConnection, people.users),
            ("adminTwoWay", people.withTwoWay, people.withConnection),
            ("adminFeeds", people.withFeed, people.users),
        ]
        return [
            ["number": .text(words.number(people.users)), "label": .text(words("adminUsers", count: people.users))]
        ]
            + shares.map { key, part, whole in
                ["number": .text(words.percent(part, of: whole)), "label": .text(words[key])]
            }
    }

    func rateTable(_ paper: RenderContext) -> Node {
        let words = paper.words
        return paper.table(
            words["ratesCaption"], ["columnProvider", "columnSpan", "columnRuns", "columnSuccess", "columnErrors"],
            rates.map { rate in
                [
                    .text(rate.provider.name), .text(words("lastDays", count: rate.days)), .number(rate.runs),
                    .figure(words.percent(rate.successes, of: rate.runs)), .number(rate.errors),
                ]
            })
    }

    func troubleTable(_ paper: RenderContext) -> Node {
        paper.table(
            paper.words["troublesCaption"],
            ["columnConnection", "columnProvider", "columnStatus", "columnTries", "columnLastVisit"],
            troubles.map { own in
                let summary = ConnectionSummary(
                    id: own.id, provider: own.provider, state: own.state, lastSyncAt: own.lastSyncAt,
                    lastOutcome: .failed)
                return [
                    .name(own.id), .text(own.provider.name), .badge(paper.badge(summary)), .number(own.tries),
                    own.lastSyncAt.map { .time(paper.times.moment($0)) } ?? .text(paper.words["never"]),
                ]
            })
    }

    func requestTable(_ paper: RenderContext) -> Node {
        paper.table(
            paper.words["requestsCaption"],
            [
                "columnProvider", "columnConnections", "columnAnnounced", "columnRequests", "columnSucceeded",
                "columnWholeDay", "columnLimit",
            ],
            requests.map { own in
                [
                    .text(own.provider.name), .number(own.connections), .number(own.announced), .number(own.sent),
                    .number(own.succeeded), .number(own.wholeDay), own.limit.map { .number($0) } ?? .empty,
                ]
            })
    }

    /// Sentences about providers whose calendars are checked less often.
    func rarer(_ paper: RenderContext) -> [Node] {
        let words = paper.words
        return requests.filter { $0.factor > 1 }.map { own in
            [
                "text": .text(
                    words(
                        "requestsRarer",
                        [
                            "provider": own.provider.name, "total": words.number(own.wholeDay),
                            "limit": words.number(own.limit ?? 0), "saved": words.number(own.saved),
                            "times": words.number(Int(own.factor.rounded(.up))),
                        ]))
            ]
        }
    }

    func accountTable(_ paper: RenderContext) -> Node {
        paper.table(
            paper.words["accountsCaption"],
            ["columnConnection", "columnProvider", "columnConnections", "columnRequests"],
            accounts.map { [.name($0.id), .text($0.provider.name), .number($0.connections), .number($0.sent)] })
    }

    func webhookTable(_ paper: RenderContext) -> Node {
        paper.table(
            paper.words["webhooksCaption"], ["columnReceiver", "columnStatus", "columnPending", "columnLastSent"],
            webhooks.map { hook in
                [
                    .name(hook.host),
                    .badge(hook.isFailing ? paper.badge(.bad, "badgeFailed") : paper.badge(.good, "badgeDelivering")),
                    .number(hook.pending),
                    hook.lastSentAt.map { .time(paper.times.moment($0)) } ?? .text(paper.words["never"]),
                ]
            })
    }

    func keyTable(_ paper: RenderContext) -> Node {
        paper.table(
            paper.words["keysCaption"], ["columnName", "columnSince", "columnLastUse", "columnActions"],
            keys.map { key in
                [
                    .name(key.name), .time(paper.times.moment(key.createdAt)),
                    key.lastUsedAt.map { .time(paper.times.moment($0)) } ?? .text(paper.words["never"]),
                    key.revokedAt == nil
                        ? .acts([
                            paper.act("actRevoke", "/app/admin/keys/\(key.id.pathSegment)/revoke", about: key.name)
                        ])
                        : .badge(paper.badge(.off, "badgeRevoked")),
                ]
            })
    }

    func auditTable(_ paper: RenderContext) -> Node {
        paper.table(
            paper.words["auditCaption"], ["columnWhen", "columnWho", "columnAction", "columnTarget"],
            audit.map { [.time(paper.times.exactly($0.at)), .name($0.actor), .name($0.action), .name($0.target)] },
            isHidden: true)
    }
}
