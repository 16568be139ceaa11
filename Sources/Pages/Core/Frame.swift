// SPDX-License-Identifier: Apache-2.0

/// The part that all pages share: the visitor, the language, the zone and the current time.
public struct Frame: Sendable {
    public var language: Language
    public var zone: PageZone
    public var weekStart: WeekStart
    /// Milliseconds since 1970.
    public var now: Int
    /// The token in each form of the page.
    public var formToken: String
    /// The user's name; nil when nobody is signed in, and the page then has no navigation.
    public var user: String?
    public var isOperator: Bool
    public var circle: CircleLink?
    public var notice: Notice?
    public var brand: Brand
    /// The prefix that a proxy puts before each path, such as `/calendars`; empty without one.
    public var base: String
    /// The path of this page with its query, without secrets, to which signing in leads back.
    public var path: String
    /// The action that the page asks to confirm, such as `revoke`: the `ask` of the query.
    public var ask: String?
    /// The pages that the navigation may link to, with `{circle}` for the circle's id; nil for all pages.
    public var destinations: [String]?

    public init(
        language: Language, zone: PageZone, now: Int, formToken: String, user: String?, isOperator: Bool = false,
        circle: CircleLink? = nil, notice: Notice? = nil, brand: Brand = Brand(), base: String = "",
        path: String = "/app", ask: String? = nil, destinations: [String]? = nil, weekStart: WeekStart? = nil
    ) {
        (self.language, self.zone, self.now, self.formToken, self.user) = (language, zone, now, formToken, user)
        (self.isOperator, self.circle, self.notice, self.brand, self.base) = (isOperator, circle, notice, brand, base)
        (self.path, self.ask, self.destinations) = (path, ask, destinations)
        self.weekStart = weekStart ?? WeekStart(language)
    }

    func leads(to destination: String) -> Bool { destinations.map { $0.contains { $0 == destination } } ?? true }
}

/// A circle in the navigation of its pages.
public struct CircleLink: Sendable {
    public var id: String
    public var name: String
    public var openConflicts: Int

    public init(id: String, name: String, openConflicts: Int = 0) {
        (self.id, self.name, self.openConflicts) = (id, name, openConflicts)
    }
}

/// The action that was just completed, and how to undo it if that is possible.
public struct Notice: Sendable {
    public enum What: String, Sendable, CaseIterable {
        case feedCreated, feedChanged, feedRegenerated, feedRenewed, feedRevoked, feedRemoved
        case connectionPaused, connectionResumed, connectionChanged, disconnected, syncStarted
        case runApproved, runUndone
        case conflictResolved, conflictDismissed
        case changeUndone
        case subscribed, subscriptionPaused, subscriptionResumed, subscriptionRefreshed, subscriptionRemoved
        case appleConnected, appleDisconnected, appleChanged
        case officeSaved, officeReset, officeDaySaid, officeCleanedUp
        case appPasswordChanged, appPasswordEnded, ownCalendarDeleted
        case deviceRemoved, sessionEnded, passwordChanged, accountSaved
        case secondFactorEnabled, secondFactorRemoved, providerJoined, providerLeft
        case keyRevoked, signedOut
    }

    public var what: What
    /// The path of a form that undoes the action, with the values that it sends.
    public var undo: (path: String, values: [String: String])?

    public init(_ what: What, undo: (path: String, values: [String: String])? = nil) {
        (self.what, self.undo) = (what, undo)
    }
}

/// The input of a form, and its problems.
public struct Draft: Sendable {
    public struct Problem: Sendable {
        /// The problem; each language has words for each of them.
        public enum Code: String, Sendable, CaseIterable {
            case address, again, code, credentials, date, denied, factorMissing, guessable, invalid, limit, missing
            case passwordShort, past, provider, range, sealed, shared, signInFailed, taken, tooLarge, tooLong, tooOften,
                unknown
            case unreachable, unreadable, zone
        }

        /// The name of the form's field; empty for the whole form.
        public var field: String
        public var code: Code
        /// A value that the message contains, such as a limit.
        public var detail: String?

        public init(field: String, code: Code, detail: String? = nil) {
            (self.field, self.code, self.detail) = (field, code, detail)
        }
    }

    public var values: [String: String]
    public var problems: [Problem]

    public init(values: [String: String] = [:], problems: [Problem] = []) {
        (self.values, self.problems) = (values, problems)
    }
}
