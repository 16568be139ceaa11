// SPDX-License-Identifier: Apache-2.0

/// The contents of a feed or a connection, as its form sets them.
public struct ContentSettings: Sendable {
    public enum Detail: String, Sendable, CaseIterable { case full, titles, busy }
    public enum Completed: String, Sendable, CaseIterable { case remove, keep }

    /// Any of `task`, `shift`, `appointment`, `followUp`, `imported`, `personal` and `planned`.
    public var kinds: Set<EntryKind>
    /// Nil for all patients.
    public var patients: [String]?
    public var detail: Detail
    public var completed: Completed
    public var includesReminders: Bool
    /// Apply only to feeds.
    public var includesAttendees: Bool
    public var includesAttachments: Bool
    public var pastDays: Int
    public var futureDays: Int
    /// Applies only to connections.
    public var isTwoWay: Bool
    public var minutes: Int

    public init(
        kinds: Set<EntryKind> = [.task, .shift, .appointment, .followUp, .imported], patients: [String]? = nil,
        detail: Detail = .full, completed: Completed = .remove, includesReminders: Bool = true,
        includesAttendees: Bool = false, includesAttachments: Bool = false, pastDays: Int = 90, futureDays: Int = 400,
        isTwoWay: Bool = true, minutes: Int = 15
    ) {
        self.kinds = kinds
        self.patients = patients
        self.detail = detail
        self.completed = completed
        self.includesReminders = includesReminders
        self.includesAttendees = includesAttendees
        self.includesAttachments = includesAttachments
        self.pastDays = pastDays
        self.futureDays = futureDays
        self.isTwoWay = isTwoWay
        self.minutes = minutes
    }
}

extension RenderContext {
    func contentFields(_ own: ContentSettings, patients: [Named], isConnection: Bool) -> [Field] {
        let kinds: [EntryKind] =
            isConnection
            ? [.task, .shift, .appointment, .followUp]
            : [.task, .shift, .appointment, .followUp, .imported, .personal, .planned]
        var fields = [
            Field(
                "kinds", words[isConnection ? "contentSynced" : "contentShown"],
                .checks(kinds.map { Choice(value: $0.rawValue, label: words[$0.words]) }),
                values: own.kinds.map(\.rawValue))
        ]
        if !patients.isEmpty {
            fields.append(
                Field(
                    "patients", words["contentPatients"],
                    .checks(patients.map { Choice(value: $0.id, label: $0.name) }),
                    values: own.patients ?? [], hint: words["contentPatientsHint"]))
        }
        fields += [
            Field(
                "detail", words["contentDetail"],
                .radio(
                    ContentSettings.Detail.allCases.map {
                        Choice(
                            value: $0.rawValue, label: words["detail_" + $0.rawValue],
                            hint: words["detailHint_" + $0.rawValue])
                    }), value: own.detail.rawValue),
            Field(
                "completedTasks", words["contentCompleted"],
                .radio(choices([("remove", "completed_remove"), ("keep", "completed_keep")])),
                value: own.completed.rawValue),
            Field("includeReminders", words["contentReminders"], .check, value: own.includesReminders ? "true" : nil),
        ]
        if !isConnection {
            fields += [
                Field(
                    "includeAttendees", words["contentAttendees"], .check, value: own.includesAttendees ? "true" : nil),
                Field(
                    "includeAttachments", words["contentAttachments"], .check,
                    value: own.includesAttachments ? "true" : nil),
            ]
        }
        if isConnection {
            fields.append(
                Field(
                    "twoWay", words["contentTwoWay"], .check, value: own.isTwoWay ? "true" : nil,
                    hint: words["contentTwoWayHint"]))
            fields.append(
                Field(
                    "syncIntervalMinutes", words["contentInterval"], Field.number, value: String(own.minutes),
                    hint: words["contentIntervalHint"], least: 5, most: 1440))
        }
        fields += [
            Field(
                "pastDays", words["contentPast"], Field.number, value: String(own.pastDays), least: 0, most: 3660),
            Field(
                "futureDays", words["contentFuture"], Field.number, value: String(own.futureDays), least: 0,
                most: 3660),
        ]
        return fields
    }
}

/// A possible problem of a feed.
public enum FeedAlert: Sendable {
    /// A program read the feed for the first time.
    case newClient(String, at: Int)
    case manyNetworks(Int, at: Int)
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
            return words.sentence("feedLineReadBy", ["client": .name(client), "when": .time(times.moment(at))])
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
        return switch own {
        case .newClient(let client, let at):
            alert(
                .warning,
                words.sentence("alertNewClient", ["client": .strong(client), "when": .time(times.moment(at))]),
                action: renewal)
        case .manyNetworks(let count, let at):
            alert(
                .warning, words.sentence("alertNetworks", count: count, ["when": .time(times.moment(at))]),
                action: renewal)
        case .large(let bytes):
            alert(.warning, words.sentence("alertLarge", ["size": .text(size(bytes))]))
        case .overdue(let client, let at):
            alert(
                .warning, words.sentence("alertOverdue", ["client": .strong(client), "when": .time(times.moment(at))]))
        case .expiresSoon(let at):
            alert(.warning, words.sentence("alertExpires", ["when": .time(times.moment(at))]))
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
