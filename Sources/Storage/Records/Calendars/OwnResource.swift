// SPDX-License-Identifier: Apache-2.0

/// A calendar object resource in a calendar of a person's own: the text as a client sent it.
public struct OwnResource: Hashable, Sendable {
    public internal(set) var calendarID = ""
    /// Its name in the calendar's address.
    public var name = ""
    /// The UID of all its components, unique within the calendar.
    public var uid = ""
    /// Identifies the bytes of the text.
    public var etag = ""
    /// The length of the text in bytes.
    public var size = 0
    public var component = CalendarComponent.event
    /// When something in it may begin at the earliest, and end at the latest, in seconds since 1970.
    var firstSecond = 0
    var lastSecond = 0
    /// Whether the two are far apart, so that it is looked for among few.
    private var isLong: Bool { lastSecond - firstSecond > Self.longest }
    /// The calendar's number at its latest change.
    public internal(set) var number = 0
    /// How often it was changed.
    public internal(set) var sequence = 0
    public var createdAt = 0
    public var changedAt = 0
    /// Its events for feeds, which this module does not interpret; empty when feeds show none of it.
    public var shown = ""
    public var text = ""

    /// The longest time in seconds for which a resource is looked for by its beginning.
    static let longest = 8 * 86_400
    /// All times that a resource can have.
    private static let always = -(1 << 52)...1 << 52

    /// - Parameter span: what may be of it, in seconds since 1970; nil when that is not known.
    public init(
        name: String, uid: String, etag: String, component: CalendarComponent, span: Range<Int>?, shown: String,
        text: String, now: Int
    ) {
        (self.name, self.uid, self.etag, self.component) = (name, uid, etag, component)
        (self.text, self.shown, size, createdAt, changedAt) = (text, shown, text.utf8.count, now, now)
        let always = Self.always
        let span = span.map { $0.lowerBound...$0.upperBound }?.clamped(to: always) ?? always
        (firstSecond, lastSecond) = (span.lowerBound, span.upperBound)
    }
}

extension OwnResource: StoredRow {
    init() {}

    static let table = RecordTable<OwnResource>(
        "own_resources",
        [
            .init("calendar_id", \.calendarID), .init("name", \.name), .init("uid", \.uid), .init("etag", \.etag),
            .init("size", \.size), .init("component", \.component), .init("first_second", \.firstSecond),
            .init("last_second", \.lastSecond), .derived("is_long") { $0.isLong }, .init("number", \.number),
            .init("sequence", \.sequence, in: ColumnRules.sequences), .once("created_at", \.createdAt),
            .init("changed_at", \.changedAt),
            .init("shown", \.shown), .init("text", \.text),
        ])
}

/// A resource without its text.
public struct OwnMember: Hashable, Sendable {
    public var name: String
    public var uid: String
    public var etag: String
    public var size: Int
    public var component: CalendarComponent
    public var number: Int
    public var sequence: Int
    public var createdAt: Int
    public var changedAt: Int

    fileprivate static let columns = "name, uid, etag, size, component, number, sequence, created_at, changed_at"

    fileprivate init(_ row: SQLRow) throws {
        name = try row.text(required: "name")
        uid = try row.text(required: "uid")
        etag = try row.text(required: "etag")
        size = try row.integer(required: "size")
        component = try CalendarComponent(.text(try row.text(required: "component")), in: "component")
        number = try row.integer(required: "number")
        sequence = try row.integer(required: "sequence")
        createdAt = try row.integer(required: "created_at")
        changedAt = try row.integer(required: "changed_at")
    }
}

/// A resource that was removed from a calendar.
public struct OwnRemoval: Hashable, Sendable {
    public var name: String
    /// The calendar's number at the removal.
    public var number: Int
    public var removedAt: Int
}

extension ReadTransaction {
    /// Returns a calendar's resources in the order of their names, after a name.
    public func ownMembers(of calendar: String, after name: String, limit: Int) throws -> [OwnMember] {
        try values(
            """
            SELECT \(OwnMember.columns) FROM own_resources WHERE calendar_id = $1 AND name > $2 ORDER BY name LIMIT $3
            """, [.text(calendar), .text(name), .integer(limit)], OwnMember.init)
    }

    public func ownMember(_ name: String, of calendar: String) throws -> OwnMember? {
        try row(
            "SELECT \(OwnMember.columns) FROM own_resources WHERE calendar_id = $1 AND name = $2",
            [.text(calendar), .text(name)]
        ).map(OwnMember.init)
    }

    public func ownMember(uid: String, of calendar: String) throws -> OwnMember? {
        try row(
            "SELECT \(OwnMember.columns) FROM own_resources WHERE calendar_id = $1 AND uid = $2",
            [.text(calendar), .text(uid)]
        ).map(OwnMember.init)
    }

    /// Returns resources by their names, in no particular order, without those that are not there.
    public func ownMembers(of calendar: String, named names: [String]) throws -> [OwnMember] {
        try ofNames(names) { list, names in
            try values(
                "SELECT \(OwnMember.columns) FROM own_resources WHERE calendar_id = $1 AND name IN (\(list))",
                [.text(calendar)] + names, OwnMember.init)
        }
    }

    public func ownResource(_ name: String, of calendar: String) throws -> OwnResource? {
        try first("WHERE calendar_id = $1 AND name = $2", [.text(calendar), .text(name)])
    }

    /// Returns resources with their texts by their names, in no particular order, without those that are not there.
    public func ownResources(of calendar: String, named names: [String]) throws -> [OwnResource] {
        try ofNames(names) { list, names in
            try all("WHERE calendar_id = $1 AND name IN (\(list))", [.text(calendar)] + names)
        }
    }

    /// Asks for names in groups of one length, so that there is only one statement.
    private func ofNames<Found>(
        _ names: [String], _ ask: (_ list: String, _ names: [SQLValue]) throws -> [Found]
    ) throws -> [Found] {
        let together = 50
        let list = SQLText.parameters(together, from: 2)
        let distinct = Array(Set(names.map { ByteString($0) }))
        var found: [Found] = []
        for start in stride(from: 0, to: distinct.count, by: together) {
            found += try ask(
                list, (start..<start + together).map { $0 < distinct.count ? .text(distinct[$0].string) : .null })
        }
        return found
    }

    /// Returns resources that may have something in a span, in the order of their names, after a name.
    ///
    /// - Parameters:
    ///   - component: nil for all components.
    ///   - span: in seconds since 1970; nil for all times.
    ///   - bytes: the most bytes of all texts; one text may have more.
    public func ownResources(
        of calendar: String, _ component: CalendarComponent?, in span: Range<Int>?, after name: String, limit: Int,
        bytes: Int = .max
    ) throws -> [OwnResource] {
        let kind = SQLValue(component?.rawValue)
        let (condition, arguments): (String, [SQLValue]) =
            span.map {
                (
                    "name IN (\(OwnResource.inSpan)) ORDER BY name",
                    OwnResource.inSpan(of: calendar, kind, $0, after: name, limit: limit)
                )
            } ?? (
                "name > $2 AND (CAST($3 AS TEXT) IS NULL OR component = $3) ORDER BY name LIMIT $4",
                [.text(calendar), .text(name), kind, .integer(limit)]
            )
        // Texts are large, so what is not returned is not read either.
        let found = try values(
            "SELECT \(OwnMember.columns) FROM own_resources WHERE calendar_id = $1 AND \(condition)", arguments,
            OwnMember.init)
        let texts = try ownResources(of: calendar, named: found.fitting(bytes, \.size).map(\.name))
        let byName = Dictionary(texts.map { (ByteString($0.name), $0) }) { one, _ in one }
        return found.compactMap { byName[ByteString($0.name)] }
    }

    /// Returns the existing resources that were changed after a number, in the order of the changes.
    public func ownMembers(of calendar: String, changedAfter number: Int, limit: Int) throws -> [OwnMember] {
        try values(
            """
            SELECT \(OwnMember.columns) FROM own_resources WHERE calendar_id = $1 AND number > $2
            ORDER BY number LIMIT $3
            """, [.text(calendar), .integer(number), .integer(limit)], OwnMember.init)
    }

    /// Returns what was removed after a number and is not there again, in the order of the removals.
    public func ownRemovals(of calendar: String, after number: Int, limit: Int) throws -> [OwnRemoval] {
        try values(
            """
            SELECT name, number, removed_at FROM own_removals WHERE calendar_id = $1 AND number > $2
            ORDER BY number LIMIT $3
            """, [.text(calendar), .integer(number), .integer(limit)]
        ) {
            OwnRemoval(
                name: try $0.text(required: "name"), number: try $0.integer(required: "number"),
                removedAt: try $0.integer(required: "removed_at"))
        }
    }
}

extension Sequence {
    /// Returns the first elements that together have no more bytes than a number, but one at least.
    ///
    /// - Parameter size: the bytes of an element.
    package func fitting(_ bytes: Int, _ size: (Element) throws -> Int) rethrows -> [Element] {
        var (found, left): ([Element], Int) = ([], bytes)
        for element in self {
            left -= try size(element)
            guard left >= 0 || found.isEmpty else { break }
            found.append(element)
        }
        return found
    }
}

extension OwnResource {
    /// Selects the names of resources that may have something in a span.
    ///
    /// The plus keeps SQLite from reading all resources in the order of their names.
    static let inSpan = """
        SELECT name FROM (
            SELECT name, component FROM own_resources
            WHERE calendar_id = $1 AND is_long = 0 AND first_second >= $2 AND first_second <= $3 AND last_second >= $4
            UNION ALL
            SELECT name, component FROM own_resources
            WHERE calendar_id = $1 AND is_long = 1 AND first_second <= $3 AND last_second >= $4) AS found
        WHERE +name > $5 AND (CAST($6 AS TEXT) IS NULL OR component = $6)
        ORDER BY +name LIMIT $7
        """

    /// Returns the arguments of `inSpan`.
    static func inSpan(
        of calendar: String, _ component: SQLValue, _ span: Range<Int>, after name: String, limit: Int
    ) -> [SQLValue] {
        let span = (span.lowerBound...span.upperBound).clamped(to: always)
        return [
            .text(calendar), .integer(span.lowerBound - longest), .integer(span.upperBound),
            .integer(span.lowerBound), .text(name), component, .integer(limit),
        ]
    }
}
