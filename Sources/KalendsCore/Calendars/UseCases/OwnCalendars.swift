// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Calendars of a person's own, whose resources are kept exactly as calendar apps sent them.
///
/// They belong to no circle, and nobody else sees them; the person's feeds show their events if they show their owner's
/// own entries.
package struct OwnCalendars: OwnCollectionSource {
    /// The longest name of a calendar or a resource in bytes.
    static let longestName = 255
    /// The number of days for which removals are known, and the maximum number of changes of a calendar that are known.
    package static let keptDays = 90
    package static let keptCount = 100_000

    let acts: Acts
    let quotas: Quotas
    let tidying: Tidying

    package func collections(of caller: CalDAVCaller) async throws -> [CalendarCollection] {
        guard caller.own else { return [] }
        return try await acts.store.read { transaction in
            try transaction.ownCalendars(of: caller.userID).map { try Self.shown($0, to: caller, in: transaction) }
        }
    }

    package func collection(_ segment: String, of caller: CalDAVCaller) async throws -> CalendarCollection? {
        guard caller.own else { return nil }
        return try await acts.store.read { transaction in
            try transaction.ownCalendar(segment, of: caller.userID).map {
                try Self.shown($0, to: caller, in: transaction)
            }
        }
    }

    package func members(
        of collection: CalendarCollection, after name: String?, limit: Int
    ) async throws -> [CalendarMember] {
        try await acts.store.read { transaction in
            try transaction.ownMembers(
                of: try Self.calendar(collection, in: transaction).id, after: name ?? "", limit: limit
            ).map(CalendarMember.init)
        }
    }

    package func members(
        of collection: CalendarCollection, named names: [String]
    ) async throws -> [CalendarMember?] {
        try await acts.store.read { transaction in
            let id = try Self.calendar(collection, in: transaction).id
            let found = Self.byName(try transaction.ownMembers(of: id, named: names), \.name)
            return names.map { found[ByteString($0)].map(CalendarMember.init) }
        }
    }

    package func resources(
        of collection: CalendarCollection, named names: [String], room: MemoryShare?
    ) async throws -> [CalendarResource?] {
        try await MemoryShare.waiting {
            try await acts.store.read { transaction in
                let id = try Self.calendar(collection, in: transaction).id
                if let room {
                    try room.need(2 * transaction.ownMembers(of: id, named: names).reduce(0) { $0 + $1.size })
                }
                let found = Self.byName(try transaction.ownResources(of: id, named: names), \.name)
                return names.map { found[ByteString($0)].map(CalendarResource.init) }
            }
        }
    }

    package func resources(
        of collection: CalendarCollection, component: CalendarComponent?, span: Range<Int>?,
        after name: String?, limit: Int
    ) async throws -> [CalendarResource] {
        try await acts.store.read { transaction in
            try transaction.ownResources(
                of: try Self.calendar(collection, in: transaction).id, component,
                in: span, after: name ?? "", limit: limit, bytes: CalendarCollection.pageBytes
            ).map(CalendarResource.init)
        }
    }

    package func changes(
        of collection: CalendarCollection, after number: Int, limit: Int
    ) async throws -> CollectionChanges {
        let cutoff = acts.now() - Self.keptDays * 86_400_000
        return try await acts.store.read { transaction in
            let changes = OwnChanges(
                of: try Self.calendar(collection, in: transaction), cutoff: cutoff, in: transaction)
            return try changes.after(number, limit: limit)
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
            // An app that may only look may set a calendar's colour all the same: nobody else sees it.
            let calendar = try Self.calendar(collection, in: act.transaction)
            guard caller.own, calendar.userID.isSameText(as: caller.userID) else { throw CollectionFault.missing }
            try CollectionProperties.set(
                set, removing: removing, of: .own(calendar.id), user: caller.userID, in: act.transaction)
            return .unnoted("How a person's calendar looks is their own concern.", ())
        }
    }

    package func homeProperties(of caller: CalDAVCaller) async throws -> [StoredProperty] {
        try await acts.store.read { try CollectionProperties.ofHome(of: caller.userID, in: $0) }
    }

    package func setHome(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], for caller: CalDAVCaller
    ) async throws {
        try await acts.act(
            on: .user(caller.userID, touchingNoCircle: "No feed shows what calendar apps keep for a person's home."),
            for: caller.caller
        ) { act in
            try CollectionProperties.setHome(set, removing: removing, of: caller.userID, in: act.transaction)
            return .unnoted("How a person's calendars look is their own concern.", ())
        }
    }

    private static func byName<Found>(_ found: [Found], _ name: (Found) -> String) -> [ByteString: Found] {
        Dictionary(found.map { (ByteString(name($0)), $0) }) { one, _ in one }
    }

    // MARK: What the acts share

    static func shown(
        _ calendar: OwnCalendar, to caller: CalDAVCaller, in transaction: any ReadTransaction
    ) throws -> CalendarCollection {
        CalendarCollection(
            kind: .own(calendar.id), userID: calendar.userID, segment: calendar.segment,
            displayName: name(of: calendar), components: calendar.components,
            mayWrite: caller.mayWrite,
            number: calendar.number,
            properties: try CollectionProperties.properties(
                of: .own(calendar.id), user: calendar.userID, in: transaction))
    }

    /// Returns the calendar that a collection shows; throws `missing` once it is gone.
    static func calendar(
        _ collection: CalendarCollection, in transaction: any ReadTransaction
    ) throws -> OwnCalendar {
        guard case .own(let id) = collection.kind, let calendar = try transaction.ownCalendar(id),
            calendar.userID.isSameText(as: collection.userID)
        else { throw CollectionFault.missing }
        return calendar
    }

    /// Returns the calendar that a collection shows to whoever may write it.
    static func calendar(
        _ collection: CalendarCollection, of caller: CalDAVCaller, in transaction: any ReadTransaction
    ) throws -> OwnCalendar {
        let calendar = try calendar(collection, in: transaction)
        guard caller.own, calendar.userID.isSameText(as: caller.userID) else { throw CollectionFault.missing }
        guard caller.mayWrite else { throw CollectionFault.needsPrivileges }
        return calendar
    }
}

extension CalendarMember {
    init(_ member: OwnMember) {
        self.init(
            name: member.name, etag: member.etag, size: member.size,
            component: member.component, modified: member.changedAt / 1000)
    }
}

extension CalendarResource {
    init(_ resource: OwnResource) {
        self.init(
            member: CalendarMember(
                name: resource.name, etag: resource.etag, size: resource.size,
                component: resource.component, modified: resource.changedAt / 1000),
            text: .success(Array(resource.text.utf8)))
    }
}
