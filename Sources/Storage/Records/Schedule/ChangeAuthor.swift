// SPDX-License-Identifier: Apache-2.0

/// Who makes the changes of a transaction, and by which way.
public struct ChangeAuthor: Hashable, Sendable {
    /// The way by which a change came in.
    public enum Way: String, Hashable, Sendable, CaseIterable, ColumnValue {
        /// The API, by a user's session or token or a host application's key.
        case api
        /// A page in a browser.
        case page
        /// A calendar app that keeps its calendars here, or a calendar on a CalDAV server that is kept in step.
        case caldav
        case google, outlook
        /// The calendars of a phone or a computer.
        case phone
        /// A file that was imported.
        case fileImport = "import"
        /// A calendar elsewhere that the circle follows.
        case subscription
        /// The server itself.
        case server
    }

    /// `user:ID`, `key:ID` or `operator`.
    public var name: String
    public var way: Way
    /// The number of the change that is undone.
    public var undoes: Int?

    public init(name: String, way: Way, undoes: Int? = nil) {
        (self.name, self.way, self.undoes) = (name, way, undoes)
    }
}

extension ChangeAuthor.Way {
    /// The way of a change: files and calendars that are followed are ways of their own, whoever asked for them.
    init(of change: CircleChange, by author: ChangeAuthor?) {
        switch change.subject {
        case .fileImport: self = .fileImport
        case .subscription where author == nil: self = .subscription
        default: self = author?.way ?? .server
        }
    }
}

extension ChangeAuthor {
    /// Who made a change.
    public enum Who: Hashable, Sendable {
        case user(String)
        case key(String)
        case operatorAtHand

        /// - Parameter name: the name of an author.
        public init(_ name: String) {
            let parts = name.pieces(separatedBy: ":", maxSplits: 1).map(String.init)
            switch parts.count == 2 ? parts[0] : "" {
            case "user": self = .user(parts[1])
            case "key": self = .key(parts[1])
            default: self = .operatorAtHand
            }
        }
    }
}
