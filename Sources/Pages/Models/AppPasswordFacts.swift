// SPDX-License-Identifier: Apache-2.0

/// A calendar app for which the pages have steps.
public enum CalendarApp: String, Sendable, CaseIterable {
    case apple, davx5, thunderbird, evolution, korganizer, outlook, other

    var name: String { "appName_\(rawValue)" }

    /// The steps in this app, in order.
    func steps(_ words: Words) -> [String] { (1...4).compactMap { words.known("appStep_\(rawValue)\($0)") } }
}

/// The values of a form for an app password.
public struct AppPasswordFields: Sendable {
    public static let names = ["label", "access", "own", "circleIds"]

    public var label: String
    public var mayWrite: Bool
    public var reachesOwn: Bool
    /// The circles that it opens; empty for all of them.
    public var circleIDs: [String]
    /// The person's circles.
    public var circles: [Named]

    public init(
        label: String = "", mayWrite: Bool = true, reachesOwn: Bool = true, circleIDs: [String] = [],
        circles: [Named]
    ) {
        (self.label, self.mayWrite, self.reachesOwn) = (label, mayWrite, reachesOwn)
        (self.circleIDs, self.circles) = (circleIDs, circles)
    }

    func fields(_ words: Words) -> [Field] {
        let access = ["write", "read"].map {
            Choice(value: $0, label: words["appAccess_\($0)"], hint: words["appAccessHint_\($0)"])
        }
        let all = [
            Field(
                "label", words["appLabel"], Field.text(), value: label, hint: words["appLabelHint"], isRequired: true,
                most: TextLength.line),
            Field("access", words["appAccess"], .radio(access), value: mayWrite ? "write" : "read"),
            Field("own", words["appOwn"], .check, value: reachesOwn ? "true" : nil, hint: words["appOwnHint"]),
        ]
        if circles.isEmpty { return all }
        return all + [
            Field(
                "circleIds", words["appCircles"], .checks(circles.map { Choice(value: $0.id, label: $0.name) }),
                values: circleIDs, hint: words["appCirclesHint"])
        ]
    }
}

/// An app password in a list.
public struct AppPasswordSummary: Sendable {
    public var id: String
    public var label: String
    public var mayWrite: Bool
    public var lastUsedAt: Int?
    public var lastClient: String?
    public var expiredAt: Int?
    public var alerts: [FeedAlert]

    public init(
        id: String, label: String, mayWrite: Bool = true, lastUsedAt: Int? = nil, lastClient: String? = nil,
        expiredAt: Int? = nil, alerts: [FeedAlert] = []
    ) {
        (self.id, self.label, self.mayWrite, self.lastUsedAt) = (id, label, mayWrite, lastUsedAt)
        (self.lastClient, self.expiredAt, self.alerts) = (lastClient, expiredAt, alerts)
    }

    var path: String { "\(AppPasswordsPage.path)/\(id.pathSegment)" }
}

extension RenderContext {
    func badge(_ own: AppPasswordSummary) -> Node {
        if own.expiredAt != nil { return badge(.off, "badgeExpired") }
        if !own.alerts.isEmpty { return badge(.warning, "badgeLook") }
        return own.lastUsedAt == nil ? badge(.busy, "badgeUnused") : badge(.good, "badgeLive")
    }

    func line(_ own: AppPasswordSummary) -> Node {
        if let at = own.expiredAt { return words.sentence("appLineExpired", ["when": .time(times.moment(at))]) }
        guard let at = own.lastUsedAt else { return words.sentence("appLineNever") }
        guard let client = own.lastClient else {
            return words.sentence("appLineUsed", ["when": .time(times.moment(at))])
        }
        return words.sentence("appLineUsedBy", ["client": .name(program(client)), "when": .time(times.moment(at))])
    }

    /// A warning about an app password; nothing for one that only feeds have.
    func alert(ofPassword own: FeedAlert) -> Node {
        switch own {
        case .newClient(let client, let at):
            alert(
                .warning,
                words.sentence(
                    "appAlertClient", ["client": .strong(program(client)), "when": .time(times.moment(at))]),
                action: question("end", "actEndPassword"))
        case .manyNetworks(let count, let at):
            alert(
                .warning, words.sentence("appAlertNetworks", count: count, ["when": .time(times.moment(at))]),
                action: question("end", "actEndPassword"))
        case .renewed, .formerEnds, .large, .overdue, .expiresSoon: .nothing
        }
    }
}
