// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

/// Reads resources of one circle for one person within one transaction.
struct CircleReader {
    let look: PersonalLook
    let member: Member
    let transaction: any ReadTransaction

    /// Throws `Refusal` unless the user is a member of the circle.
    init(
        _ circle: String, for user: String, _ settings: ServerSettings, in transaction: any ReadTransaction
    ) throws {
        try transaction.expect { next in
            _ = try next.circle(circle)
            _ = try next.member(user, in: circle)
            _ = try CircleNames(circle, in: next)
        }
        let authorized = try Rights.authorized(circle, for: .user(user), in: transaction)
        guard let member = authorized.member else { throw Refusal.missing(.circle) }
        (self.member, self.transaction) = (member, transaction)
        look = try PersonalLook(of: authorized.circle, for: user, settings, in: transaction)
    }

    var circle: Circle { look.circle }

    // MARK: Some resources

    /// The resource that a name means.
    enum Found {
        case item(SeenItem, ShownResource, parts: [PersonalParts])
        case imported(ImportedSeries, ShownResource)

        var shown: ShownResource {
            switch self {
            case .item(_, let shown, _), .imported(_, let shown): shown
            }
        }
    }

    /// Returns a value for the object of each of some names, in the order of the names; nil for those that are not there.
    ///
    /// - Parameters:
    ///   - index: gets the index; nothing else knows the names of imported events.
    ///   - room: grows to the memory that the largest series takes; `MemoryShare.Needed` is thrown while it cannot.
    ///   - value: makes the value. Texts that it does not keep are in memory one at a time.
    func find<Value>(
        _ names: [String], in list: ResourceName.List, _ index: () throws -> CircleIndex, room: MemoryShare? = nil,
        _ value: (_ name: String, Found) -> Value
    ) throws -> [Value?] {
        guard !names.isEmpty else { return [] }
        let known = try resources(named: names, list, index)
        let items = try items(known.compactMap { $0 })
        let ownNames = try ResourceNames(of: items, in: circle.id, transaction)
        let parts = PersonalPartsOfUIDs(
            try transaction.personalParts(items.map(\.uid), of: look.userID, in: circle.id))
        var found: [CircleResource: Value] = [:]
        func add(_ one: Found) {
            let resource = one.shown.resource
            if isIn(list, one.shown) { found[resource] = value(ownNames.name(of: resource), one) }
        }
        try eachSeen(items, room: room) { item in
            let kept = parts[item.item.uid]
            add(.item(item, look.shown(item, kept), parts: kept))
        }
        try eachImported(importedUIDs(known.compactMap { $0 }), room: room) { add(.imported($0, $1)) }
        return zip(names, known).map { name, resource in
            guard let resource, ownNames.name(of: resource).isSameText(as: name) else { return nil }
            return found[resource]
        }
    }

    /// Returns about how many bytes the texts of some names have, without making them; 0 for those that are not there.
    func sizes(
        _ names: [String], in list: ResourceName.List, _ index: () throws -> CircleIndex
    ) throws -> [Int] {
        let known = try resources(named: names, list, index)
        let items = try items(known.compactMap { $0 })
        let changed = try transaction.occurrenceBytes(of: items, in: circle.id)
        let sizes = Dictionary(
            items.map { (CircleResource($0), Self.besidesContent + $0.content.utf8.count + (changed[$0.id] ?? 0)) },
            uniquingKeysWith: { first, _ in first })
        return try zip(names, known).map { name, resource in
            guard let resource else { return 0 }
            if case .imported = resource { return try index().entry(named: name, list)?.size ?? 0 }
            return sizes[resource] ?? 0
        }
    }

    /// The approximate number of bytes of an item's text in addition to its content.
    private static let besidesContent = 700

    func isIn(_ list: ResourceName.List, _ resource: CircleResource, _ shown: ShownResource) -> Bool {
        guard case .item(let collection, _) = resource else { return (shown.component == .task) == (list == .tasks) }
        return isIn(list, collection)
    }

    /// Whether the items of a collection are in a list.
    func isIn(_ list: ResourceName.List, _ collection: ScheduleItem.Collection) -> Bool {
        look.kinds[collection].map { ResourceName.List($0) == list } ?? false
    }

    private func resources(
        named names: [String], _ list: ResourceName.List, _ index: () throws -> CircleIndex
    ) throws -> [CircleResource?] {
        var given: [ByteString: CircleResource] = [:]
        for name in try transaction.resourceNames(names, list, in: circle.id) {
            given[ByteString(name.name)] = .item(.init(rawValue: name.collection), id: ByteString(name.itemID))
        }
        let index = names.contains(where: ResourceNames.isImported) ? try index() : nil
        return names.map { name in
            if let known = given[ByteString(name)] { return known }
            if ResourceNames.isImported(name) { return index?.entry(named: name, list)?.resource }
            return ResourceNames.item(named: name, in: list)
        }
    }

    /// Returns the items among some resources.
    func items(_ resources: [CircleResource], deletedToo: Bool = false) throws -> [ScheduleItem] {
        var ids: [ScheduleItem.Collection: [String]] = [:]
        for case .item(let collection, let id) in resources { ids[collection, default: []].append(id.string) }
        return try ids.flatMap { collection, ids in
            try transaction.itemsEverKnown(ids, collection, in: circle.id).filter { deletedToo || $0.deletedAt == nil }
        }
    }

    /// How many times the bytes of changed occurrences are in memory while a text is made from them.
    private static let timesAsText = 5

    /// Calls a body with items and their changed occurrences, of which few are in memory at a time.
    ///
    /// - Parameter room: grows to the memory that the largest series takes; `MemoryShare.Needed` is thrown while it cannot.
    private func eachSeen(_ items: [ScheduleItem], room: MemoryShare? = nil, _ body: (SeenItem) throws -> Void) throws {
        let bytes = try transaction.occurrenceBytes(of: items, in: circle.id)
        try room?.need(Self.timesAsText * (bytes.values.max() ?? 0))
        try transaction.eachChanged(items, in: circle.id, bytes: bytes) { try body(SeenItem($0, $1)) }
    }

    private func importedUIDs(_ resources: [CircleResource]) -> [String] {
        var uids: [String] = []
        for case .imported(let uid, _) in resources { uids.append(uid.string) }
        return uids
    }

    /// Calls a body with imported series and what the person sees of them, as few at a time in memory as items in
    /// `eachSeen`.
    private func eachImported(
        _ uids: [String], room: MemoryShare? = nil, _ body: (ImportedSeries, ShownResource) throws -> Void
    ) throws {
        guard !uids.isEmpty else { return }
        let bytes = try transaction.importedBytes(of: uids, in: circle.id)
        try room?.need(Self.timesAsText * (bytes.values.max() ?? 0))
        var rest = uids[...]
        while !rest.isEmpty {
            let group = rest.fitting(CalendarCollection.pageBytes) { bytes[$0] ?? 0 }
            rest = rest.dropFirst(group.count)
            let series = try ImportedSeries.all(uids: group, in: circle, transaction).values.flatMap { $0 }
            let parts = PersonalPartsOfUIDs(
                try transaction.personalParts(series.map(\.shownUID), of: look.userID, in: circle.id))
            for one in series { if let shown = look.shown(one, { parts[$0] }) { try body(one, shown) } }
        }
    }

    // MARK: Changes

    struct Changes {
        /// What changed, without its texts, of what was read until now.
        var shown: [(ShownResource, name: String)] = []
        var gone: [CircleResource] = []
        /// The state up to which these are all changes.
        var number: CircleNumber
        var isWhole: Bool
        /// What is to be read, in an order that is always the same for two states.
        fileprivate(set) var items: ArraySlice<ScheduleItem> = []
        fileprivate(set) var uids: ArraySlice<String> = []
        /// The circle's state when `items` were read.
        fileprivate let state: CircleNumber

        var left: Int { items.count + uids.count }

        /// Leaves out the first of what is to be read.
        mutating func skip(_ count: Int) {
            let rest = max(0, count - items.count)
            items = items.dropFirst(count)
            uids = uids.dropFirst(rest)
        }
    }

    /// The most bytes of what changed of which texts are made in one transaction, but for a single text.
    private static let changedBytes = 4 << 20

    /// Returns what changed between two states, of which `read` reads the texts.
    ///
    /// - Parameters:
    ///   - limit: the most items, unless one act changed more; there are fewer of long ones.
    ///   - mostImported: the most imported events, which come beside the last items, all at once.
    /// - Returns: nil if what was removed is not known any more, or too much has changed at once.
    func changes(
        since: CircleNumber, until: CircleNumber, limit: Int, mostImported: Int = 10_000
    ) throws -> Changes? {
        // This is known before anything is answered; the imported events come at the end of the answer.
        guard
            let imported = try transaction.importedUIDs(in: circle, changedAfter: since.epoch, limit: mostImported)
        else { return nil }
        let upTo = try transaction.lastVersion(
            in: circle.id, for: look.userID, changedAfter: since.version, limit: limit, bytes: Self.changedBytes)
        // Imported events have no versions of the circle, so they come with the last items.
        var changes = Changes(number: until, isWhole: upTo == nil, state: CircleNumber(circle))
        if let upTo { changes.number = CircleNumber(version: upTo, epoch: since.epoch) }
        let last = changes.number.version
        let items = try transaction.items(in: circle.id, changedAfter: since.version, upTo: last)
        let kept = try transaction.personalUIDs(
            of: look.userID, in: circle.id, changedAfter: since.version, upTo: last)
        var living = items.filter { $0.deletedAt == nil }
        let known = Set(items.map { CircleResource($0) })
        living += try transaction.itemsEverKnown(uids: kept, in: circle.id).filter {
            $0.deletedAt == nil && !known.contains(CircleResource($0))
        }
        changes.gone = items.filter { $0.deletedAt != nil }.map { CircleResource($0) }
        changes.items = living.sorted { ByteString($0.uid) < ByteString($1.uid) }[...]
        // What a person keeps of an imported event is named by the UID that it shows, mostly its own.
        let uids = Set((kept + (changes.isWhole ? imported : [])).map { ByteString($0) })
        changes.uids = uids.sorted().map(\.string)[...]
        return changes
    }

    /// Reads the next part of what changed, as much as one transaction may take; nothing is left after the last.
    func read(_ changes: inout Changes) throws {
        var left = Self.changedBytes
        let items = try first(of: changes.items, &left) { items in
            let bytes = try transaction.occurrenceBytes(of: items, in: circle.id)
            return items.map { $0.content.utf8.count + (bytes[$0.id] ?? 0) }
        }
        changes.items = changes.items.dropFirst(items.count)
        let uids = try first(of: changes.uids, &left) { uids in
            let bytes = try transaction.importedBytes(of: uids, in: circle.id)
            return uids.map { bytes[$0] ?? 0 }
        }
        changes.uids = changes.uids.dropFirst(uids.count)
        // What was removed since is among the next changes.
        try add(
            changes.state == CircleNumber(circle) ? items : self.items(items.map { CircleResource($0) }), to: &changes)
        if !uids.isEmpty { try addImported(uids, to: &changes) }
    }

    /// Returns the first elements that have no more bytes than are left; their sizes are asked for a few at a time.
    private func first<Element>(
        of all: ArraySlice<Element>, _ left: inout Int, _ sizes: ([Element]) throws -> [Int]
    ) rethrows -> [Element] {
        var found: [Element] = []
        while left > 0, found.count < all.count {
            let group = all.dropFirst(found.count).prefix(32)
            for (element, size) in zip(group, try sizes(Array(group))) where left > 0 {
                left -= size
                found.append(element)
            }
        }
        return found
    }

    private func add(_ items: [ScheduleItem], to changes: inout Changes) throws {
        guard !items.isEmpty else { return }
        let parts = PersonalPartsOfUIDs(
            try transaction.personalParts(items.map(\.uid), of: look.userID, in: circle.id))
        let names = try ResourceNames(of: items, in: circle.id, transaction)
        try eachSeen(items) { item in
            let shown = look.shown(item, parts[item.item.uid]).withoutText
            changes.shown.append((shown, names.name(of: shown.resource)))
        }
    }

    private func addImported(_ uids: [String], to changes: inout Changes) throws {
        let names = try ResourceNames(of: [], in: circle.id, transaction)
        var shown: Set<CircleResource> = []
        try eachImported(uids) { _, here in
            shown.insert(here.resource)
            changes.shown.append((here.withoutText, names.name(of: here.resource)))
        }
        for (uid, source) in try transaction.importedSources(uids, visibleTo: look.userID, in: circle.id) {
            let resource = CircleResource.imported(uid: ByteString(uid), source: ByteString(source.text))
            if !shown.contains(resource) { changes.gone.append(resource) }
        }
    }
}
