// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import Storage

/// The names, ETags and times of all resources of a circle as one person gets them, kept without their texts and
/// updated change by change.
///
/// A copy shares nearly everything with what it is a copy of, also after a change: readers of several states are in memory
/// hardly more than one.
struct CircleIndex: Sendable {
    /// A class, because an entry is in two places.
    final class Entry: Sendable {
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

        /// The approximate bytes in memory, with those of its places.
        fileprivate var bytes: Int {
            let texts =
                switch resource {
                case .item(_, let id): [name, id]
                case .imported(let uid, let source): [name, uid, source]
                }
            // A text of up to 15 bytes is within its value.
            return texts.reduce(256) { $0 + ($1.string.utf8.count > 15 ? 40 + $1.string.utf8.count : 0) }
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

    private let createdAt: Int
    private var number: CircleNumber
    /// How much of what comes after `number`, up to a state of the circle, is here already.
    private var partly: (until: CircleNumber, count: Int)?
    private var events = EntryList()
    private var tasks = EntryList()
    /// In parts by hash, of which a change copies one.
    private var byResource = [[CircleResource: Entry]](repeating: [:], count: 256)

    /// The approximate size in memory, in bytes.
    private(set) var size = 0

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
        let entries = byResource.flatMap(\.values)
        (events, tasks) = (EntryList(entries.filter { !$0.isTask }), EntryList(entries.filter(\.isTask)))
        size = entries.reduce(0) { $0 + $1.bytes }
    }

    private mutating func add(_ shown: ShownResource, _ names: ResourceNames) {
        byResource[Self.part(shown.resource)][shown.resource] = Entry(shown, names.name(of: shown.resource))
    }

    private static func part(_ resource: CircleResource) -> Int { resource.hashValue & 255 }

    enum Update {
        /// The index shows the transaction's state.
        case current
        /// It is nearer to it; the rest is for the next transaction.
        case behind
        /// Everything has to be read again: too much has changed, the circle is another one, or it is on another clock.
        case lost
    }

    /// Updates the index to the circle's state in the transaction, or as far as one transaction may.
    mutating func update(_ reader: CircleReader) throws -> Update {
        let (circle, now) = (reader.look.circle, CircleNumber(reader.look.circle))
        guard circle.createdAt == createdAt, (circle.firstVersion...circle.version).contains(number.version) else {
            return .lost
        }
        if now == number { return .current }
        guard
            try reader.transaction.changeCount(
                in: circle.id, changedAfter: number.version, limit: Self.manyChanges + 1) <= Self.manyChanges,
            var changes = try reader.changes(
                since: number, until: now, limit: Self.manyChanges, mostImported: Self.manyChanges)
        else { return .lost }
        let count = changes.left
        if let partly, partly.until == now { changes.skip(partly.count) }
        try reader.read(&changes)
        for resource in changes.gone { remove(resource) }
        for (shown, name) in changes.shown {
            remove(shown.resource)
            insert(Entry(shown, name))
        }
        guard changes.left == 0 else {
            partly = (now, count - changes.left)
            return .behind
        }
        (number, partly) = (changes.number, nil)
        return changes.isWhole ? .current : .behind
    }

    /// Whether this index shows a later state of the same circle.
    func isLater(than other: CircleIndex) -> Bool {
        createdAt == other.createdAt && number.number > other.number.number
    }

    private mutating func insert(_ entry: Entry) {
        byResource[Self.part(entry.resource)][entry.resource] = entry
        size += entry.bytes
        if entry.isTask { tasks.insert(entry) } else { events.insert(entry) }
    }

    private mutating func remove(_ resource: CircleResource) {
        guard let entry = byResource[Self.part(resource)].removeValue(forKey: resource) else { return }
        size -= entry.bytes
        if entry.isTask { tasks.remove(entry) } else { events.remove(entry) }
    }

    private func entries(_ list: ResourceName.List) -> EntryList {
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
        entries(list).prefix(limit, after: name) { entry in
            span.map { entry.span.lowerBound < $0.upperBound && entry.span.upperBound >= $0.lowerBound } ?? true
        }
    }

    func entry(named name: String, _ list: ResourceName.List) -> Entry? {
        entries(list).first(named: name)
    }
}

/// Entries in the order of their names, in runs of which a change copies one.
private struct EntryList: Sendable {
    typealias Entry = CircleIndex.Entry

    private static let longest = 512

    /// None is empty.
    private var runs: [[Entry]] = []

    init(_ entries: [Entry] = []) {
        let sorted = entries.sorted { $0.name < $1.name }
        runs = stride(from: 0, to: sorted.count, by: Self.longest / 2).map {
            Array(sorted[$0...].prefix(Self.longest / 2))
        }
    }

    /// Returns the number of the run in which a name is, or would be; after the last one, of none.
    private func run(of name: ByteString) -> Int { runs.position(of: name) { $0.last?.name ?? "" } }

    mutating func insert(_ entry: Entry) {
        if runs.isEmpty { runs.append([]) }
        let number = min(run(of: entry.name), runs.count - 1)
        runs[number].insert(entry, at: runs[number].position(of: entry.name, by: \.name))
        guard runs[number].count > Self.longest else { return }
        let rest = Array(runs[number].suffix(Self.longest / 2))
        runs[number].removeLast(rest.count)
        runs.insert(rest, at: number + 1)
    }

    mutating func remove(_ entry: Entry) {
        let number = run(of: entry.name)
        runs[number].remove(at: runs[number].position(of: entry.name, by: \.name))
        if runs[number].isEmpty { runs.remove(at: number) }
    }

    func first(named name: String) -> Entry? {
        let number = run(of: ByteString(name))
        return number < runs.count ? runs[number].first(named: name, by: \.name) : nil
    }

    /// Returns the first of the wanted entries after a name; of all entries without one.
    func prefix(_ limit: Int, after name: String?, _ isWanted: (Entry) -> Bool) -> [Entry] {
        var found: [Entry] = []
        for run in runs[(name.map { run(of: ByteString($0)) } ?? 0)...] {
            for entry in run.after(name, by: \.name) where isWanted(entry) {
                guard found.count < limit else { return found }
                found.append(entry)
            }
        }
        return found
    }
}

extension CircleIndex.Entry {
    fileprivate var isTask: Bool { component == .task }
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
