// SPDX-License-Identifier: Apache-2.0

/// `/app`: the circles of a user.
public struct CirclesPage: Page {
    public struct Circle: Sendable {
        public var id: String
        public var name: String
        public var feeds: Int
        public var connections: Int
        /// The number of items that need a person's attention, including conflicts.
        public var attention: Int

        public init(id: String, name: String, feeds: Int, connections: Int, attention: Int) {
            (self.id, self.name, self.feeds, self.connections) = (id, name, feeds, connections)
            self.attention = attention
        }
    }

    public var circles: [Circle]

    public init(circles: [Circle]) { self.circles = circles }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        return PageContent(
            template: "circles", title: words["circlesTitle"], section: .circles,
            content: [
                "circles": .rows(
                    circles.map { circle in
                        let path = "/app/circles/\(circle.id.pathSegment)"
                        return [
                            "name": .text(circle.name), "href": .text(paper.href(path)),
                            "sync": paper.linkButton(
                                "circlesSync", path + "/calendar-sync", style: .quiet, about: circle.name),
                            "feeds": .text(words("countFeeds", count: circle.feeds)),
                            "connections": .text(words("countConnections", count: circle.connections)),
                            "badge": circle.attention == 0
                                ? .nothing
                                : paper.badge(
                                    .warning, words.plural("badgeAttention", circle.attention),
                                    ["count": words.number(circle.attention)]),
                        ]
                    }),
                "empty": circles.isEmpty ? paper.emptyState("circlesEmptyTitle", "circlesEmptyText") : .nothing,
            ])
    }
}
