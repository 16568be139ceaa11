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
        let changed = try occurrenceBytes(of: items)
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

    private func occurrenceBytes(of items: [ScheduleItem]) throws -> [ByteString: Int] {
        let series = items.filter(\.hasOccurrences).map(\.id)
        return series.isEmpty ? [:] : try transaction.occurrenceBytes(of: series, in: circle.id)
    }

    func isIn(_ list: ResourceName.List, _ resource: CircleResource, _ shown: ShownResource) -> Bool {
        guard case .item(let collection, _) = resource else { return (shown.component == .task) == (list == .tasks) }
        return look.kinds[collection].map { ResourceName.List($0) == list } ?? false
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

    /// Calls a body with items and their changed occurrences. Only the occurrences of one series are in memory at a time, or
    /// those of several as long as they fit on a page.
    ///
    /// - Parameter room: grows to the memory that the largest series takes; `MemoryShare.Needed` is thrown while it cannot.
    private func eachSeen(_ items: [ScheduleItem], room: MemoryShare? = nil, _ body: (SeenItem) throws -> Void) throws {
        let bytes = try occurrenceBytes(of: items)
        try room?.need(Self.timesAsText * (bytes.values.max() ?? 0))
        var rest = items[...]
        while !rest.isEmpty {
            let group = rest.fitting(CalendarCollection.pageBytes) { bytes[$0.id] ?? 0 }
            rest = rest.dropFirst(group.count)
            let changing = group.map(\.id).filter { bytes[$0] != nil }
            let changed: [ByteString: [ChangedOccurrence]] =
                changing.isEmpty
                ? [:] : Dictionary(grouping: try transaction.occurrences(of: changing, in: circle.id), by: \.itemID)
            for item in group { try body(SeenItem(item, item.hasOccurrences ? changed[item.id] ?? [] : [])) }
        }
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
        /// Without their texts.
        var shown: [(ShownResource, name: String)] = []
        var gone: [CircleResource] = []
        /// The state up to which these are all changes.
        var number: CircleNumber
        var isWhole: Bool
    }

    /// Returns what changed between two states.
    ///
    /// - Parameters:
    ///   - limit: the most items, unless one act changed more.
    ///   - mostImported: the maximum number of imported events, which come together with the last items, all at once.
    /// - Returns: nil if what was removed is not known any more, or too much has changed at once.
    func changes(
        since: CircleNumber, until: CircleNumber, limit: Int, mostImported: Int = 10_000
    ) throws -> Changes? {
        // This is known before anything is answered; the imported events come at the end of the answer.
        guard
            var uids = try transaction.importedUIDs(in: circle, changedAfter: since.epoch, limit: mostImported)
        else { return nil }
        let upTo = try transaction.lastVersion(
            in: circle.id, for: look.userID, changedAfter: since.version, limit: limit)
        // Imported events have no versions of the circle, so they come with the last items.
        var changes = Changes(number: until, isWhole: upTo == nil)
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
        let parts = PersonalPartsOfUIDs(
            try transaction.personalParts(living.map(\.uid), of: look.userID, in: circle.id))
        let names = try ResourceNames(of: living, in: circle.id, transaction)
        try eachSeen(living) { item in
            let shown = look.shown(item, parts[item.item.uid]).withoutText
            changes.shown.append((shown, names.name(of: shown.resource)))
        }
        guard changes.isWhole else { return changes }
        // A person's own data about an imported event is stored under the UID that the event shows, mostly its own.
        uids += kept
        guard !uids.isEmpty else { return changes }
        try addImported(Array(Set(uids.map { ByteString($0) })).map(\.string), to: &changes)
        return changes
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
