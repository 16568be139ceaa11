// SPDX-License-Identifier: Apache-2.0

package import Storage

/// A person's circles as calendars: the events of each, and its tasks and follow-ups.
package struct CircleCollections: CollectionSource, Acting, CircleReading {
    let acts: Acts
    let settings: ServerSettings
    let turns: CircleLock
    let circleIndexes: CircleIndexes
    let memory: MemoryBudgets

    /// How many circles are looked up at once.
    private static let together = 100

    package func collections(of caller: CalDAVCaller) async throws -> [CalendarCollection] {
        try await store.read { transaction in
            var found: [CalendarCollection] = []
            var last = ""
            while true {
                let page = try transaction.circles(of: caller.userID, after: last, limit: Self.together)
                for circle in page where caller.reaches(circle.id) {
                    guard let member = try transaction.member(caller.userID, in: circle.id) else { continue }
                    found += try CircleSegment.lists.map {
                        try CircleSegment(circle: circle.id, list: $0).collection(
                            circle, member, caller, in: transaction)
                    }
                }
                guard page.count == Self.together, let end = page.last?.id else { return found }
                last = end
            }
        }
    }

    package func collection(_ segment: String, of caller: CalDAVCaller) async throws -> CalendarCollection? {
        guard let place = CircleSegment(segment), caller.reaches(place.circle) else { return nil }
        return try await store.read { transaction in
            guard let circle = try transaction.circle(place.circle),
                let member = try transaction.member(caller.userID, in: circle.id)
            else { return nil }
            return try place.collection(circle, member, caller, in: transaction)
        }
    }

    // MARK: Reading

    package func members(
        of collection: CalendarCollection, after name: String?, limit: Int
    ) async throws -> [CalendarMember] {
        let list = try collection.place.list
        return try await read(collection) { _, index in
            try index().entries(list, after: name, limit: limit).map(\.member)
        }
    }

    /// Texts are made for their tags, so a transaction has no more of them than an answer has in memory.
    package func members(of collection: CalendarCollection, named names: [String]) async throws -> [CalendarMember?] {
        var (members, rest): ([CalendarMember?], ArraySlice<String>) = ([], names[...])
        var sizes = names.count > 1 ? try await sizes(of: collection, named: names)[...] : [0]
        while !rest.isEmpty {
            let count = sizes.fitting(CalendarCollection.pageBytes) { $0 }.count
            members += try await found(Array(rest.prefix(count)), in: collection) { name, shown in shown.member(name) }
            (rest, sizes) = (rest.dropFirst(count), sizes.dropFirst(count))
        }
        return members
    }

    /// The index is asked for only for imported events: to make it takes as long as the circle is large.
    package func sizes(of collection: CalendarCollection, named names: [String]) async throws -> [Int] {
        let list = try collection.place.list
        return try await read(collection) { reader, index in try reader.sizes(names, in: list, index) }
    }

    package func resources(
        of collection: CalendarCollection, named names: [String], room: MemoryShare?
    ) async throws -> [CalendarResource?] {
        try await found(names, in: collection, room: room) { name, shown in shown.calendarResource(name) }
    }

    private func found<Value: Sendable>(
        _ names: [String], in collection: CalendarCollection, room: MemoryShare? = nil,
        _ value: @escaping @Sendable (String, ShownResource) -> Value
    ) async throws -> [Value?] {
        let list = try collection.place.list
        return try await MemoryShare.waiting {
            try await read(collection) { reader, index in
                try reader.find(names, in: list, index, room: room) { value($0, $1.shown) }
            }
        }
    }

    package func resources(
        of collection: CalendarCollection, component: CalendarComponent?, span: Range<Int>?,
        after name: String?, limit: Int
    ) async throws -> [CalendarResource] {
        let list = try collection.place.list
        if let component, !collection.components.contains(component) { return [] }
        return try await read(collection) { reader, index in
            let names = try index().entries(list, overlapping: span, after: name, limit: limit)
                .fitting(CalendarCollection.pageBytes, \.size).map(\.name.string)
            return try reader.find(names, in: list, index) { $1.shown.calendarResource($0) }.compactMap(\.self)
        }
    }

    package func changes(
        of collection: CalendarCollection, after number: Int, limit: Int
    ) async throws -> CollectionChanges {
        let list = try collection.place.list
        let forgotten = now() - CircleChanges.keptDays * 86_400_000
        var (found, rest) = try await read(collection) { reader, _ in
            let (circle, transaction) = (reader.circle, reader.transaction)
            let now = CircleNumber(circle)
            guard let since = CircleNumber(number), (circle.firstVersion...now.version).contains(since.version),
                since.epoch <= now.epoch
            else { throw CollectionFault.invalidSyncToken }
            var found = CollectionChanges(changed: [], removed: [], number: number, isTruncated: false)
            if since == now { return (found, CircleReader.Changes?.none) }
            let most = CircleChanges.keptCount + 1
            guard
                try transaction.changeCount(in: circle.id, changedAfter: since.version, limit: most) < most,
                try !transaction.hasDeletions(in: circle.id, changedAfter: since.version, before: forgotten),
                var changes = try reader.changes(since: since, until: now, limit: max(limit, 1))
            else { throw CollectionFault.invalidSyncToken }
            found.removed = try transaction.formerResourceNames(
                in: circle.id, list, changedAfter: since.version, upTo: changes.number.version)
            (found.number, found.isTruncated) = (changes.number.number, !changes.isWhole)
            try reader.read(&changes, into: &found, list)
            return (found, changes)
        }
        while let changes = rest, changes.left > 0 {
            (found, rest) = try await read(collection) { [found] reader, _ in
                var (found, changes) = (found, changes)
                try reader.read(&changes, into: &found, list)
                return (found, changes)
            }
        }
        return found
    }

    /// Reads resources of a circle, and its index where it is asked for.
    func read<Value: Sendable>(
        _ collection: CalendarCollection,
        _ body: @escaping @Sendable (CircleReader, () throws -> CircleIndex) throws -> Value
    ) async throws -> Value {
        let (circle, user, settings) = (try collection.place.circle, collection.userID, settings)
        let indexes = circleIndexes
        let look: @Sendable (any ReadTransaction, CircleIndex?) throws -> Value = { transaction, made in
            let reader = try CircleReader(circle, for: user, settings, in: transaction)
            return try body(reader) { try indexes.current(reader, made: made) }
        }
        do {
            while true {
                do {
                    return try await store.read { try look($0, nil) }
                } catch is CircleIndexes.Behind {
                    continue
                } catch is CircleIndexes.Missing {
                    return try await readInTurn(for: user) { transaction, room in
                        let reader = try CircleReader(circle, for: user, settings, in: transaction)
                        try room.take(circle, andOwnOf: nil, in: transaction)
                        return try look(transaction, try CircleIndex(reader.look, in: transaction))
                    }.0
                }
            }
        } catch let refusal as Refusal where refusal.kind == .missing {
            throw CollectionFault.missing
        }
    }

    package func set(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], of collection: CalendarCollection,
        for caller: CalDAVCaller
    ) async throws {
        try await acts.act(
            on: .user(caller.userID, touchingNoCircle: "No feed shows what calendar apps keep for a calendar."),
            for: caller.caller
        ) { act in
            let circle = try collection.place.circle
            guard caller.reaches(circle), try act.transaction.member(caller.userID, in: circle) != nil else {
                throw CollectionFault.missing
            }
            try CollectionProperties.set(
                set, removing: removing, of: collection.kind, user: caller.userID, in: act.transaction)
            return .unnoted("How a circle's calendar looks to a person is their own concern.", ())
        }
    }
}

extension CalDAVCaller {
    func reaches(_ circle: String) -> Bool {
        circleIDs.map { ids in ids.contains { $0.isSameText(as: circle) } } ?? true
    }

    /// The app's user, who acts with the rights that they have.
    var caller: Caller { .app(password: passwordID, of: userID) }
}

extension CalendarCollection {
    /// The circle and the list; throws `CollectionFault.missing` for a collection of another source.
    var place: CircleSegment {
        get throws {
            switch kind {
            case .events(let circle): CircleSegment(circle: circle, list: .events)
            case .tasks(let circle): CircleSegment(circle: circle, list: .tasks)
            case .own, .feed: throw CollectionFault.missing
            }
        }
    }
}

extension ShownResource {
    func calendarResource(_ name: String) -> CalendarResource {
        CalendarResource(member: member(name), text: text.isEmpty ? .failure(.failed) : .success(text))
    }
}

extension CircleReader {
    /// Whether a resource is in a list.
    func isIn(_ list: ResourceName.List, _ shown: ShownResource) -> Bool { isIn(list, shown.resource, shown) }

    /// Reads the next part of some changes, and adds what of it is in a list.
    fileprivate func read(
        _ changes: inout Changes, into found: inout CollectionChanges, _ list: ResourceName.List
    ) throws {
        try read(&changes)
        found.changed += changes.shown.filter { isIn(list, $0.0) }.map { $0.0.member($0.name) }
        found.removed += try names(of: changes.gone, in: list)
        (changes.shown, changes.gone) = ([], [])
    }

    /// Returns the names that resources had in a list, where it is known that they cannot have been in the other.
    func names(of gone: [CircleResource], in list: ResourceName.List) throws -> [String] {
        let ids = gone.filter { resource in
            guard case .item(let collection, _) = resource else { return false }
            return isIn(list, collection)
        }
        let items = try self.items(ids, deletedToo: true)
        let names = try ResourceNames(of: items, in: circle.id, transaction)
        var found = items.map { names.name(of: CircleResource($0)) }
        for resource in gone { if case .imported = resource { found.append(names.name(of: resource)) } }
        return found
    }
}

/// A circle's collection, as the home's address names it: in a circle's id `~` is doubled.
struct CircleSegment: Hashable, Sendable {
    static let lists: [ResourceName.List] = [.events, .tasks]
    private static let tasks = "~tasks"

    let circle: String
    let list: ResourceName.List

    init(circle: String, list: ResourceName.List) { (self.circle, self.list) = (circle, list) }

    /// Returns nil for a segment that names no circle.
    init?(_ segment: String) {
        var (id, rest) = ("", segment[...])
        var list = ResourceName.List.events
        while let next = rest.first {
            if rest.hasPrefix("~~") {
                id.append("~")
                rest = rest.dropFirst(2)
            } else if next.is("~") {
                guard rest.isSameText(as: Self.tasks) else { return nil }
                (list, rest) = (.tasks, "")
            } else {
                id.append(next)
                rest = rest.dropFirst()
            }
        }
        guard Identifier.isValid(id) else { return nil }
        self.init(circle: id, list: list)
    }

    var segment: String { circle.replacing("~", with: "~~") + (list == .tasks ? Self.tasks : "") }

    func collection(
        _ circle: Circle, _ member: Member, _ caller: CalDAVCaller, in transaction: any ReadTransaction
    ) throws -> CalendarCollection {
        let kind: CalendarCollection.Kind = list == .events ? .events(circle: circle.id) : .tasks(circle: circle.id)
        return CalendarCollection(
            kind: kind, userID: caller.userID, segment: segment,
            displayName: list == .events ? circle.name : "✓ \(circle.name)",
            components: list == .events ? [.event] : [.task],
            mayWrite: caller.mayWrite && member.role.right >= .write, number: CircleNumber(circle).number,
            properties: try CollectionProperties.properties(of: kind, user: caller.userID, in: transaction))
    }
}
