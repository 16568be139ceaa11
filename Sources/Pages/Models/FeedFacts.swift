// SPDX-License-Identifier: Apache-2.0

/// A field of the form of a feed's or a connection's contents; the words for it are those with its name.
public struct ContentField: Sendable {
    public enum Kind: Sendable {
        case check
        case number(ClosedRange<Int>)
        /// One of several words.
        case choice([String])
        /// Several texts, each in a line of its own.
        case lines
        case kinds([EntryKind])
        case patients([Named])
    }

    public let name: String
    public let kind: Kind
    public let values: [String]

    public init(_ name: String, _ kind: Kind, _ values: [String]) {
        (self.name, self.kind, self.values) = (name, kind, values)
    }
}

/// The options of a feed or a connection in groups, each a form that is saved by itself.
public enum ContentGroup: String, Sendable, CaseIterable {
    case shown, detail, span, other, end

    /// The group of an option by the name of its field.
    public init(of field: String) {
        switch field {
        case "kinds", "patients", "completedTasks": self = .shown
        case "pastDays", "futureDays": self = .span
        case "until": self = .end
        case "label", "embedOrigins", "twoWay", "syncIntervalMinutes": self = .other
        default: self = .detail
        }
    }
}

extension RenderContext {
    /// The groups of a feed's or a connection's settings with their headings and forms.
    ///
    /// - Parameter name: what the names of the forms begin with.
    func settingGroups(_ name: String, _ path: String, _ fields: [Field], _ draft: Draft) -> Node {
        .list(
            ContentGroup.allCases.compactMap { group in
                let title = words["contentGroup_" + group.rawValue]
                let own = fields.filter { ContentGroup(of: $0.name) == group }
                return own.isEmpty
                    ? nil
                    : [
                        "title": .text(title),
                        "form": form(
                            "\(name)-\(group.rawValue)", path, own, submit: "actSave", draft: draft,
                            values: ["part": group.rawValue], about: title),
                    ]
            })
    }

    /// The problems of the group that was sent.
    func problems(_ draft: Draft, inGroupsOf name: String, _ fields: [Field]) -> [Node] {
        draft.problems.flatMap { problem in
            problems(
                Draft(problems: [problem]), in: "\(name)-\(ContentGroup(of: problem.field).rawValue)", fields)
        }
    }

    /// - Parameter name: the name of the field for kinds in the words.
    func fields(_ content: [ContentField], kinds name: String) -> [Field] {
        content.map { own in
            func field(_ kind: Field.Kind, _ word: String? = nil, least: Int? = nil, most: Int? = nil) -> Field {
                Field(
                    own.name, words["content_" + (word ?? own.name)], kind, value: own.values.first,
                    values: own.values, hint: words.known("contentHint_" + own.name), least: least, most: most)
            }
            switch own.kind {
            case .check: return field(.check)
            case .number(let range): return field(Field.number, least: range.lowerBound, most: range.upperBound)
            case .choice(let choices):
                return field(
                    .radio(
                        choices.map {
                            Choice(
                                value: $0, label: words["content_\(own.name)_\($0)"],
                                hint: words.known("contentHint_\(own.name)_\($0)"))
                        }))
            case .lines: return field(.area)
            case .kinds(let kinds):
                return field(.checks(kinds.map { Choice(value: $0.rawValue, label: words[$0.words]) }), name)
            case .patients(let all): return field(.checks(all.map { Choice(value: $0.id, label: $0.name) }))
            }
        }
    }
}

/// A possible problem of a feed.
public enum FeedAlert: Sendable {
    /// A program read the feed for the first time.
    case newClient(String, at: Int)
    case manyNetworks(Int, at: Int)
    /// The feed has another address, which no program has read yet.
    case renewed(at: Int)
    /// The feed has another address, and the one before is still answered.
    case formerEnds(at: Int)
    /// The feed is larger than some apps can read.
    case large(bytes: Int)
    /// A program stopped reading the feed.
    case overdue(client: String, lastSeenAt: Int)
    case expiresSoon(at: Int)
}

public enum FeedState: Sendable {
    case live
    case revoked(at: Int)
    case expired(at: Int)
}

public struct FeedSummary: Sendable {
    public var id: String
    /// Empty for a feed without a label.
    public var label: String
    public var state: FeedState
    public var lastReadAt: Int?
    public var lastClient: String?
    public var alerts: [FeedAlert]
    /// The kinds of the circle's entries that the feed does not show.
    public var hidden: [EntryKind]
    /// How much it says of each entry: `full`, `titles` or `busy`.
    public var detail = "full"
    /// The programs that read it, with their last visits.
    public var readers: [(name: String, seenAt: Int)] = []

    public init(
        id: String, label: String, state: FeedState = .live, lastReadAt: Int? = nil, lastClient: String? = nil,
        alerts: [FeedAlert] = [], hidden: [EntryKind] = []
    ) {
        self.id = id
        self.label = label
        self.state = state
        self.lastReadAt = lastReadAt
        self.lastClient = lastClient
        self.alerts = alerts
        self.hidden = hidden
    }

    var isLive: Bool { if case .live = state { true } else { false } }

    func path(_ paper: RenderContext) -> String { paper.circlePath("/feeds/\(id.pathSegment)") }
}

extension RenderContext {
    func title(_ feed: FeedSummary) -> String { feed.label.isEmpty ? words["feedUnnamed"] : feed.label }

    func badge(_ feed: FeedSummary) -> Node {
        switch feed.state {
        case .revoked: badge(.off, "badgeRevoked")
        case .expired: badge(.off, "badgeExpired")
        case .live:
            if !feed.alerts.isEmpty {
                badge(.warning, "badgeLook")
            } else if feed.lastReadAt == nil {
                badge(.busy, "badgeWaiting")
            } else {
                badge(.good, "badgeLive")
            }
        }
    }

    func line(_ feed: FeedSummary) -> Node {
        switch feed.state {
        case .revoked(let at): return words.sentence("feedLineRevoked", ["when": .time(times.moment(at))])
        case .expired(let at): return words.sentence("feedLineExpired", ["when": .time(times.moment(at))])
        case .live:
            guard let at = feed.lastReadAt else { return words.sentence("feedLineNever") }
            guard let client = feed.lastClient else {
                return words.sentence("feedLineRead", ["when": .time(times.moment(at))])
            }
            return words.sentence(
                "feedLineReadBy", ["client": .name(program(client)), "when": .time(times.moment(at))])
        }
    }

    /// The kinds that the feed does not show; nothing if it shows all or has ended.
    func hidden(_ feed: FeedSummary) -> Node {
        guard case .live = feed.state, !feed.hidden.isEmpty else { return .nothing }
        return words.sentence("feedHides", ["kinds": .strong(kinds(feed.hidden))])
    }

    /// A text such as "Shifts, Follow-ups".
    func kinds(_ all: [EntryKind]) -> String { all.map { words[$0.words] }.joined(separator: ", ") }

    func alert(_ own: FeedAlert, of feed: FeedSummary) -> Node {
        // The feed's own page contains the question; other pages link to it.
        let renewal = linkButton("actRegenerate", feed.path(self) + "?ask=regenerate#regenerate")
        let seen = act("actSeen", feed.path(self) + "/seen")
        let addition = linkButton("healthAddAgain", feed.path(self) + "#address")
        return switch own {
        case .newClient(let client, let at):
            alert(
                .warning,
                words.sentence(
                    "alertNewClient", ["client": .strong(program(client)), "when": .time(times.moment(at))]),
                action: renewal, act: seen)
        case .manyNetworks(let count, let at):
            alert(
                .warning, words.sentence("alertNetworks", count: count, ["when": .time(times.moment(at))]),
                action: renewal, act: seen)
        case .renewed(let at):
            alert(
                .warning, words.sentence("alertRenewed", ["when": .time(times.moment(at))]), action: addition)
        case .formerEnds(let at):
            alert(
                .warning, words.sentence("alertFormerEnds", ["when": .time(times.moment(at))]), action: addition)
        case .large(let bytes):
            alert(.warning, words.sentence("alertLarge", ["size": .text(size(bytes))]))
        case .overdue(let client, let at):
            alert(
                .warning,
                words.sentence(
                    "alertOverdue", ["client": .strong(program(client)), "when": .time(times.moment(at))]))
        case .expiresSoon(let at):
            alert(
                .warning, words.sentence("alertExpires", ["when": .time(times.moment(at))]),
                action: linkButton("feedMoveEnd", feed.path(self) + "#settings"))
        }
    }

    /// A number of bytes in a readable unit.
    func size(_ bytes: Int) -> String {
        if bytes < 1000 { return words("sizeBytes", count: bytes) }
        if bytes < 1_000_000 { return words("sizeKilobytes", ["number": words.number((bytes + 500) / 1000)]) }
        if bytes % (1 << 20) == 0 { return words("sizeMegabytes", ["number": words.number(bytes >> 20)]) }
        let tenths = (bytes + 50_000) / 100_000
        return words("sizeMegabytes", ["number": "\(words.number(tenths / 10))\(words["decimalMark"])\(tenths % 10)"])
    }
}
