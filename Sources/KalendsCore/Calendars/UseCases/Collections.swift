// SPDX-License-Identifier: Apache-2.0

package import Storage

/// What calendar apps find of a person: all of their collections, whatever keeps them.
package struct Collections: Sendable {
    /// In the order in which the home lists what they have. If two collections have the same segment, the first one is found.
    private let sources: [any CollectionSource]
    private let store: any Store

    init(_ sources: [any CollectionSource], store: any Store) { (self.sources, self.store) = (sources, store) }

    /// The caller's collections, each with what reads and writes it.
    package func all(of caller: CalDAVCaller) async throws -> [CollectionPlace] {
        var places: [CollectionPlace] = []
        var segments: Set<ByteString> = []
        for source in sources {
            for collection in try await source.collections(of: caller)
            where segments.insert(ByteString(collection.segment)).inserted {
                places.append(CollectionPlace(collection, source))
            }
        }
        return places
    }

    /// One of them by its segment; nil for an unknown segment.
    package func find(_ segment: String, of caller: CalDAVCaller) async throws -> CollectionPlace? {
        for source in sources {
            if let collection = try await source.collection(segment, of: caller) {
                return CollectionPlace(collection, source)
            }
        }
        return nil
    }

    /// Makes a calendar of the caller's own.
    ///
    /// - Throws: `CollectionFault.exists` if the caller has a collection with this segment.
    package func make(
        _ segment: String, components: [CalendarComponent], properties: [StoredProperty],
        for caller: CalDAVCaller
    ) async throws -> CalendarCollection {
        guard let own else { throw CollectionFault.needsPrivileges }
        return try await own.make(segment, components: components, properties: properties, for: caller)
    }

    /// Removes a calendar of the caller's own with everything in it.
    package func remove(_ place: CollectionPlace, for caller: CalDAVCaller) async throws {
        guard let own = place.source as? any OwnCollectionSource else { throw CollectionFault.needsPrivileges }
        try await own.remove(place.collection, for: caller)
    }

    /// Moves or copies a resource within a calendar of the caller's own or between two of them; returns whether one was
    /// replaced.
    package func transfer(
        _ name: String, of place: CollectionPlace, to newName: String, in target: CollectionPlace, isMove: Bool,
        overwrites: Bool, if conditions: WriteConditions, for caller: CalDAVCaller
    ) async throws -> Bool {
        guard target.isOwn, let own = place.source as? any OwnCollectionSource else {
            throw CollectionFault.needsPrivileges
        }
        return try await own.transfer(
            name, of: place.collection, to: newName, in: target.collection, isMove: isMove, overwrites: overwrites,
            if: conditions, for: caller)
    }

    /// The properties that the caller set on the home.
    package func homeProperties(of caller: CalDAVCaller) async throws -> [StoredProperty] {
        try await own?.homeProperties(of: caller) ?? []
    }

    /// Sets and removes properties of the home.
    package func setHome(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], for caller: CalDAVCaller
    ) async throws {
        guard let own else { throw CollectionFault.needsPrivileges }
        try await own.setHome(set, removing: removing, for: caller)
    }

    /// The caller as others see them.
    package func person(of caller: CalDAVCaller) async throws -> CalendarPerson {
        let id = caller.userID
        let name = try await store.read { transaction in
            try transaction.circles(of: id, after: "", limit: 1).first.flatMap {
                try transaction.member(id, in: $0.id)?.displayName
            }
        }
        return CalendarPerson(id: id, name: name ?? id)
    }

    private var own: (any OwnCollectionSource)? {
        for source in sources { if let own = source as? any OwnCollectionSource { return own } }
        return nil
    }
}

/// A collection with what reads and writes it.
package struct CollectionPlace: Sendable {
    package let collection: CalendarCollection
    package let source: any CollectionSource

    package init(_ collection: CalendarCollection, _ source: any CollectionSource) {
        (self.collection, self.source) = (collection, source)
    }

    /// Whether its person made it, and may remove it.
    package var isOwn: Bool { source is any OwnCollectionSource }
}

/// A person as a principal (RFC 3744 section 2).
package struct CalendarPerson: Sendable {
    package let id: String
    package let name: String
    /// Host applications that name their users by e-mail address say it that way.
    package var email: String? {
        guard let parts = id.parted(at: "@"), !parts.before.isEmpty, parts.after.utf8.contains(UInt8(ascii: ".")) else {
            return nil
        }
        return id
    }
}
