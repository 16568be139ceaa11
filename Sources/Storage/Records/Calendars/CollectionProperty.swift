// SPDX-License-Identifier: Apache-2.0

/// A property of a collection that a person set with a calendar app, only for themselves.
public struct CollectionProperty: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case events, tasks, own
        /// The container of a person's collections.
        case home
    }

    public var userID = ""
    public var kind = Kind.own
    /// The id of the circle, of the own calendar, or of the person whose home it is.
    public var collectionID = ""
    public var namespace = ""
    public var name = ""
    /// The whole element.
    public var xml = ""
}

extension CollectionProperty: StoredRow {
    public init(
        of kind: Kind, _ collection: String, user: String, namespace: String, name: String, xml: String
    ) {
        self.init(
            userID: user, kind: kind, collectionID: collection, namespace: namespace, name: name, xml: xml)
    }

    static let table = RecordTable<CollectionProperty>(
        "collection_properties",
        [
            .init("user_id", \.userID), .init("kind", \.kind), .init("collection_id", \.collectionID),
            .init("namespace", \.namespace), .init("name", \.name), .init("xml", \.xml),
        ])
}

extension ReadTransaction {
    /// Returns the properties that a person set on a collection, in order of namespaces and names.
    public func collectionProperties(
        of kind: CollectionProperty.Kind, _ collection: String, user: String
    ) throws -> [CollectionProperty] {
        try all(
            "WHERE user_id = $1 AND kind = $2 AND collection_id = $3 ORDER BY namespace, name",
            [.text(user), .text(kind.rawValue), .text(collection)])
    }
}

extension WriteTransaction {
    public func putCollectionProperty(_ property: CollectionProperty) throws { try put(property) }

    public func deleteCollectionProperty(
        _ name: String, in namespace: String, of kind: CollectionProperty.Kind, _ collection: String, user: String
    ) throws {
        try execute(
            """
            DELETE FROM collection_properties
            WHERE user_id = $1 AND kind = $2 AND collection_id = $3 AND namespace = $4 AND name = $5
            """, [.text(user), .text(kind.rawValue), .text(collection), .text(namespace), .text(name)])
    }

    /// Removes all properties that anybody set on a collection.
    func deleteCollectionProperties(of kind: CollectionProperty.Kind, id: String) throws {
        try execute(
            "DELETE FROM collection_properties WHERE collection_id = $1 AND kind = $2",
            [.text(id), .text(kind.rawValue)])
    }
}
