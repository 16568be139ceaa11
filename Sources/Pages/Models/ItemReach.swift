// SPDX-License-Identifier: Apache-2.0

/// The calendars that have an item's latest change.
public struct ItemReach: Sendable {
    public struct Calendar: Sendable {
        /// The calendar app, or the provider of a connection.
        public var name: String
        /// The feed's label; nil for a feed without one, and for somebody else's feed.
        public var label: String?
        public var isOthers: Bool
        public var hasIt: Bool
        /// Milliseconds since 1970, like `expectedAt`.
        public var seenAt: Int?
        public var expectedAt: Int?

        public init(
            name: String, label: String? = nil, isOthers: Bool = false, hasIt: Bool, seenAt: Int? = nil,
            expectedAt: Int? = nil
        ) {
            (self.name, self.label, self.isOthers, self.hasIt, self.seenAt) = (name, label, isOthers, hasIt, seenAt)
            self.expectedAt = expectedAt
        }
    }

    public var isNew: Bool
    public var calendars: [Calendar]

    public init(isNew: Bool, calendars: [Calendar]) {
        (self.isNew, self.calendars) = (isNew, calendars)
    }
}

extension ItemPage {
    /// A sentence for everybody, and a table with the details.
    func shown(_ paper: RenderContext, _ reach: ItemReach) -> Node {
        let (words, times) = (paper.words, paper.times)
        let (all, have) = (reach.calendars, reach.calendars.count(where: \.hasIt))
        let silent = silent(paper)
        // If a feed leaves the item out, that is the reason, and there is nothing to wait for.
        guard !all.isEmpty else {
            return self.silent.isEmpty ? ["summary": .text(words["reachNobody"])] : ["silent": silent]
        }
        let kind = reach.isNew ? "new" : "change"
        let summary =
            have == all.count
            ? words("reachAll_" + kind, count: have)
            : words("reachSome_" + kind, count: have, ["all": words.number(all.count)])
        let next = all.filter { !$0.hasIt }.compactMap { calendar in calendar.expectedAt.map { (calendar.name, $0) } }
            .filter { $0.1 > paper.frame.now }.min { $0.1 < $1.1 }
        let expected = next.map { name, time in
            words.sentence("reachExpected", ["name": .name(paper.program(name)), "time": .time(times.about(time))])
        }
        return [
            "summary": .text(summary), "silent": silent, "expected": expected ?? .nothing,
            "table": paper.table(
                words["reachCaption"], ["columnCalendar", "columnHasIt", "columnLastSeen", "columnExpected"],
                all.map { calendar in
                    let whose = calendar.isOthers ? words["reachOthers"] : calendar.label
                    return [
                        .name([paper.program(calendar.name), whose].compactMap(\.self).joined(separator: " · ")),
                        .badge(
                            calendar.hasIt ? paper.badge(.good, "reachHas") : paper.badge(.warning, "reachHasNot")),
                        calendar.seenAt.map { .time(times.moment($0)) } ?? .empty,
                        calendar.expectedAt.map {
                            $0 > paper.frame.now ? .time(times.about($0)) : .text(words["reachLate"])
                        } ?? .empty,
                    ]
                }, isHidden: true),
        ]
    }

    private func silent(_ paper: RenderContext) -> Node {
        .rows(
            silent.map { feed, rule in
                paper.words.sentence(
                    "itemSilent",
                    [
                        "feed": .link(paper.title(feed), to: paper.href(feed.path(paper) + "#settings")),
                        "reason": .text(paper.reason(rule, feed)),
                    ])
            })
    }
}
