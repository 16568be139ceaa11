// SPDX-License-Identifier: Apache-2.0

/// What every page shares: for whom it is, in which language and zone, at what time.
public struct Frame: Sendable {
    public var language: Language
    public var zone: PageZone
    /// Milliseconds since 1970.
    public var now: Int
    /// The token that each form of the page carries.
    public var formToken: String
    /// The user's name; nil when nobody is signed in, and the page then has no navigation.
    public var user: String?
    public var isOperator: Bool
    public var circle: CircleLink?
    public var notice: Notice?
    public var brand: Brand
    /// What a proxy puts before each path, such as `/calendars`; empty for nothing.
    public var base: String
    /// The path of this page with its query, without secrets: where a sign-in leads back to.
    public var path: String
    /// What the page asks about before it is done, such as `revoke`: the `ask` of the query.
    public var ask: String?
    /// The pages that the navigation may lead to, `{circle}` for the circle's; nil for all of them.
    public var places: [String]?

    public init(
        language: Language, zone: PageZone, now: Int, formToken: String, user: String?, isOperator: Bool = false,
        circle: CircleLink? = nil, notice: Notice? = nil, brand: Brand = Brand(), base: String = "",
        path: String = "/app", ask: String? = nil, places: [String]? = nil
    ) {
        self.language = language
        self.zone = zone
        self.now = now
        self.formToken = formToken
        self.user = user
        self.isOperator = isOperator
        self.circle = circle
        self.notice = notice
        self.brand = brand
        self.base = base
        self.path = path
        self.ask = ask
        self.places = places
    }

    func leads(to place: String) -> Bool { places.map { $0.contains { $0 == place } } ?? true }
}

/// A circle as its pages' navigation names it.
public struct CircleLink: Sendable {
    public var id: String
    public var name: String
    public var openConflicts: Int

    public init(id: String, name: String, openConflicts: Int = 0) {
        self.id = id
        self.name = name
        self.openConflicts = openConflicts
    }
}

/// What was just done, and the way back where there is one.
public struct Notice: Sendable {
    public enum What: String, Sendable, CaseIterable {
        case feedCreated, feedChanged, feedRegenerated, feedRenewed, feedRevoked, feedRemoved
        case connectionMade, connectionPaused, connectionResumed, connectionChanged, disconnected, syncStarted
        case runApproved, runUndone
        case conflictResolved, conflictDismissed
        case subscribed, subscriptionPaused, subscriptionResumed, subscriptionRefreshed, subscriptionRemoved
        case appleConnected, appleDisconnected, appleChanged
        case officeSaved, officeReset, officeDaySaid, officeCleanedUp
        case deviceRemoved, sessionEnded, passwordChanged, accountSaved
        case keyMade, keyRevoked, signedOut
    }

    public var what: What
    /// The path of a form that takes it back, with what it sends.
    public var undo: (path: String, values: [String: String])?

    public init(_ what: What, undo: (path: String, values: [String: String])? = nil) {
        self.what = what
        self.undo = undo
    }
}

/// What somebody typed into a form, and what is wrong with it.
public struct Draft: Sendable {
    public struct Problem: Sendable {
        /// The name of the form's field; empty for the whole form.
        public var field: String
        /// A code of docs/errors.md.
        public var code: String
        /// A limit or the like that the sentence names.
        public var detail: String?

        public init(field: String, code: String, detail: String? = nil) {
            self.field = field
            self.code = code
            self.detail = detail
        }
    }

    public var values: [String: String]
    public var problems: [Problem]

    public init(values: [String: String] = [:], problems: [Problem] = []) {
        self.values = values
        self.problems = problems
    }
}
