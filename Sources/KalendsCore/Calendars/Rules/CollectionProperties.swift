// SPDX-License-Identifier: Apache-2.0

import Calendar
import Storage

/// The properties that a person set on a collection, which nobody else sees.
enum CollectionProperties {
    /// The bytes of all properties of a collection, with their names.
    static let mostBytes = 64 << 10
    /// The bytes that each one counts for in addition to its own: a request looks among all of them for each that it names.
    private static let bytesOfOne = 128

    /// Returns the properties that a person set on a collection; nothing for a feed, where nothing can be set.
    static func properties(
        of kind: CalendarCollection.Kind, user: String, in transaction: any ReadTransaction
    ) throws -> [StoredProperty] {
        guard let stored = kind.stored else { return [] }
        return try properties(of: stored, user: user, in: transaction)
    }

    /// Returns what a person set of the container of their collections.
    static func ofHome(of user: String, in transaction: any ReadTransaction) throws -> [StoredProperty] {
        try properties(of: (.home, user), user: user, in: transaction)
    }

    private static func properties(
        of place: (kind: CollectionProperty.Kind, id: String), user: String, in transaction: any ReadTransaction
    ) throws -> [StoredProperty] {
        try transaction.collectionProperties(of: place.kind, place.id, user: user).map {
            StoredProperty(namespace: $0.namespace, name: $0.name, xml: Array($0.xml.utf8))
        }
    }

    /// Sets and removes properties of a collection for a person.
    ///
    /// - Throws: `CollectionFault.insufficientStorage` if they then have too many bytes; what it did must be given up.
    static func set(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], of kind: CalendarCollection.Kind,
        user: String, in transaction: any WriteTransaction
    ) throws {
        guard let stored = kind.stored else { throw CollectionFault.needsPrivileges }
        try self.set(set, removing: removing, of: stored, user: user, in: transaction)
    }

    /// Sets and removes properties of the container of a person's collections.
    static func setHome(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], of user: String,
        in transaction: any WriteTransaction
    ) throws {
        try self.set(set, removing: removing, of: (.home, user), user: user, in: transaction)
    }

    private static func set(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)],
        of place: (kind: CollectionProperty.Kind, id: String), user: String, in transaction: any WriteTransaction
    ) throws {
        let (kind, id) = place
        for property in removing {
            try transaction.deleteCollectionProperty(
                property.name, in: property.namespace, of: kind, id, user: user)
        }
        for property in set {
            guard let xml = String(validating: property.xml, as: UTF8.self), !property.xml.contains(0) else {
                throw CollectionFault.invalidData(.objectUnreadable)
            }
            try transaction.putCollectionProperty(
                CollectionProperty(
                    of: kind, id, user: user, namespace: property.namespace, name: property.name, xml: xml))
        }
        try transaction.notePropertyChange(of: kind, id, user: user)
        guard !set.isEmpty else { return }
        let bytes = try transaction.collectionProperties(of: kind, id, user: user).reduce(0) {
            $0 + $1.xml.utf8.count + $1.namespace.utf8.count + $1.name.utf8.count + bytesOfOne
        }
        guard bytes <= mostBytes else {
            throw CollectionFault.insufficientStorage(
                Sentence(.propertiesFull, "Your settings of a calendar may have \(mostBytes, .most) bytes at most."))
        }
    }
}

extension CalendarCollection.Kind {
    /// How the properties of such a collection are stored; nil for a feed, where nothing can be set.
    var stored: (kind: CollectionProperty.Kind, id: String)? {
        switch self {
        case .events(let circle): (.events, circle)
        case .tasks(let circle): (.tasks, circle)
        case .own(let id): (.own, id)
        case .feed: nil
        }
    }
}

extension Sentence {
    static let objectUnreadable = Sentence(
        .objectUnreadable, "This is not one iCalendar object in UTF-8 that begins and ends.")
}
