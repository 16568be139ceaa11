// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import Storage

/// The names, ETags and times of all resources of a circle as one person gets them, kept without their texts and
/// updated change by change.
struct CircleIndex: Sendable {
    struct Entry: Sendable {
        let name: ByteString
        let resource: CircleResource
        let component: CalendarComponent
        let etag: ContentHash
        let size: Int
        let modified: Int
        let span: ClosedRange<Int>

        fileprivate init(_ shown: ShownResource, _ name: String) {
            (self.name, resource, component) = (ByteString(name), shown.resource, shown.component)
            (etag, size, modified, span) = (shown.etag, shown.size, shown.modified, shown.span)
        }

        var member: CalendarMember {
            CalendarMember(
                name: name.string, etag: etag.text, size: size, component: component, modified: modified)
        }
    }

    /// The maximum number of changes that are applied individually; for more, reading everything is cheaper.
    private static let manyChanges = 500
    /// How many rows are made into texts together.
    private static let together = 256
    /// The bytes of an entry in memory, and of its place.
    private static let entrySize = 300

    private let createdAt: Int
    private var number: CircleNumber
    private var events: [Entry] = []
    private var tasks: [Entry] = []
    private var byResource: [CircleResource: Entry] = [:]

    /// The approximate size in memory, in bytes.
    var size: Int { byResource.count * Self.entrySize }

    /// Reads a whole circle, of whose texts only few are in memory at a time.
    init(_ look: PersonalLook, in transaction: any ReadTransaction) throws {
        let circle = look.circle
        (createdAt, number) = (circle.createdAt, CircleNumber(circle))
        let (from, to) = (Int.min / 2, Int.max / 2)
        try transaction.expect { next in
            _ = try ResourceNames(in: circle.id, next)
            _ = try next.personalParts(of: look.userID, in: circle.id)
            _ = try next.occurrences(of: nil, in: circle.id)
            try next.eachItem(in: circle.id, from: from, to: to) { _ in }
            try next.eachImportedUID(in: circle, from: from, to: to) { _ in }
        }
        let names = try ResourceNames(in: circle.id, transaction)
        let parts = PersonalPartsOfUIDs(try transaction.personalParts(of: look.userID, in: circle.id))
        let changed: [ByteString: [ChangedOccurrence]] = Dictionary(
            grouping: try transaction.occurrences(of: nil, in: circle.id), by: \.itemID)
        let making = ParallelWork<[ShownResource]>()
        var rows: [SeenItem] = []
        func make() {
            making.add { [rows] in rows.map { look.shown($0, parts[$0.item.uid]).withoutText } }
            rows = []
        }
        try transaction.eachItem(in: circle.id, from: from, to: to) { item in
            rows.append(SeenItem(item, item.hasOccurrences ? changed[item.id] ?? [] : []))
            if rows.count == Self.together { make() }
        }
        make()
        for shown in try making.results().joined() { add(shown, names) }
        try ImportedSeries.each(in: circle, from: from, to: to, transaction) { series in
            if let shown = look.shown(series, { parts[$0] }) { add(shown, names) }
        }
        for entry in byResource.values {
            if entry.component == .task { tasks.append(entry) } else { events.append(entry) }
        }
        events.sort { $0.name < $1.name }
        tasks.sort { $0.name < $1.name }
    }

    private mutating func add(_ shown: ShownResource, _ names: ResourceNames) {
        byResource[shown.resource] = Entry(shown, names.name(of: shown.resource))
    }

    /// Updates the index to the circle's state in the transaction.
    ///
    /// - Returns: false if everything has to be read again: too much has changed, the circle is another one, or it is on
    ///   another clock.
    mutating func update(_ reader: CircleReader) throws -> Bool {
        let circle = reader.look.circle
        guard circle.createdAt == createdAt, (circle.firstVersion...circle.version).contains(number.version) else {
            return false
        }
        if CircleNumber(circle) == number { return true }
        guard
            let changes = try reader.changes(
                since: number, until: CircleNumber(circle), limit: Self.manyChanges, mostImported: Self.manyChanges),
            changes.isWhole
        else { return false }
        for resource in changes.gone { remove(resource) }
        for (shown, name) in changes.shown {
            remove(shown.resource)
            insert(Entry(shown, name))
        }
        number = CircleNumber(circle)
        return true
    }

    /// Whether this index shows a later state of the same circle.
    func isLater(than other: CircleIndex) -> Bool {
        createdAt == other.createdAt && number.number > other.number.number
    }

    private mutating func insert(_ entry: Entry) {
        byResource[entry.resource] = entry
        if entry.component == .task {
            tasks.insert(entry, at: tasks.position(of: entry.name, by: \.name))
        } else {
            events.insert(entry, at: events.position(of: entry.name, by: \.name))
        }
    }

    private mutating func remove(_ resource: CircleResource) {
        guard let entry = byResource.removeValue(forKey: resource) else { return }
        if entry.component == .task {
            tasks.remove(at: tasks.position(of: entry.name, by: \.name))
        } else {
            events.remove(at: events.position(of: entry.name, by: \.name))
        }
    }

    private func entries(_ list: ResourceName.List) -> [Entry] {
        switch list {
        case .events: events
        case .tasks: tasks
        }
    }

    /// Returns entries in the order of their names after one.
    ///
    /// - Parameter span: in seconds since 1970; nil for all times.
    func entries(
        _ list: ResourceName.List, overlapping span: Range<Int>? = nil, after name: String?, limit: Int
    ) -> [Entry] {
        let rest = entries(list).after(name, by: \.name)
        guard let span else { return Array(rest.prefix(limit)) }
        var found: [Entry] = []
        for entry in rest where entry.span.lowerBound < span.upperBound && entry.span.upperBound >= span.lowerBound {
            found.append(entry)
            if found.count == limit { break }
        }
        return found
    }

    func entry(named name: String, _ list: ResourceName.List) -> Entry? {
        entries(list).first(named: name, by: \.name)
    }
}

/// An array in the order of its elements' names.
extension Array {
    /// Returns the index of the first element that has a name or one after it.
    func position(of name: ByteString, by key: (Element) -> ByteString) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if key(self[middle]) < name { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the elements after a name; all of them without one.
    func after(_ name: String?, by key: (Element) -> ByteString) -> ArraySlice<Element> {
        guard let name = name.map({ ByteString($0) }) else { return self[...] }
        return self[position(of: name, by: key)...].drop { key($0) == name }
    }

    func first(named name: String, by key: (Element) -> ByteString) -> Element? {
        let name = ByteString(name)
        let position = position(of: name, by: key)
        return position < count && key(self[position]) == name ? self[position] : nil
    }
}

/// A person's own data, by the UID that calendars show.
struct PersonalPartsOfUIDs: Sendable {
    private var parts: [ByteString: [PersonalParts]] = [:]

    init(_ rows: [PersonalPart]) {
        for row in rows { parts[ByteString(row.uid)] = Self.parts(row.content) }
    }

    subscript(uid: String) -> [PersonalParts] { parts[ByteString(uid)] ?? [] }

    /// Reads the stored form; nothing for a form that this version does not understand.
    static func parts(_ content: String?) -> [PersonalParts] {
        content.flatMap { try? storedRecord($0) } ?? []
    }
}
