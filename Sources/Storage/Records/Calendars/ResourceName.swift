// SPDX-License-Identifier: Apache-2.0

/// The name that a calendar app gave to the resource of an item when it made it.
public struct ResourceName: Hashable, Sendable {
    /// Which of a circle's collections the resource is in.
    public enum List: String, Hashable, Sendable, ColumnValue {
        case events, tasks
    }

    public var circleID = ""
    public var list = List.events
    public var name = ""
    public var collection = ""
    public var itemID = ""

    public init(circleID: String, list: List, name: String, collection: ScheduleItem.Collection, itemID: String) {
        (self.circleID, self.list, self.name) = (circleID, list, name)
        (self.collection, self.itemID) = (collection.rawValue, itemID)
    }
}

extension ResourceName: StoredRow {
    init() {}

    static let table = RecordTable<ResourceName>(
        "resource_names",
        [
            .init("circle_id", \.circleID), .init("list", \.list), .init("name", \.name),
            .init("collection", \.collection), .init("item_id", \.itemID),
        ])
}

extension ReadTransaction {
    /// Returns the names that calendar apps gave in a circle, in no order.
    public func resourceNames(in circle: String) throws -> [ResourceName] {
        try all("WHERE circle_id = $1", [.text(circle)])
    }

    /// Returns which items have these names in a list.
    public func resourceNames(_ names: [String], _ list: ResourceName.List, in circle: String) throws -> [ResourceName]
    {
        try eachGroup(names, from: 3) { parameters, values in
            try all(
                "WHERE circle_id = $1 AND list = $2 AND name IN (\(parameters))",
                [.text(circle), .text(list.rawValue)] + values)
        }
    }

    /// Returns the names that items of a list had before they were deleted and came back under others.
    public func formerResourceNames(
        in circle: String, _ list: ResourceName.List, changedAfter version: Int, upTo last: Int
    ) throws -> [String] {
        try rows(
            """
            SELECT name FROM former_resource_names
            WHERE circle_id = $1 AND list = $2 AND version > $3 AND version <= $4 ORDER BY name
            """, [.text(circle), .text(list.rawValue), .integer(version), .integer(last)]
        ).map { try $0.text(required: "name") }
    }

    /// Returns the names of some items, whose ids may be those of items of other collections, too.
    public func resourceNames(ofItems ids: [String], in circle: String) throws -> [ResourceName] {
        try eachGroup(ids, from: 2) { parameters, values in
            try all("WHERE circle_id = $1 AND item_id IN (\(parameters))", [.text(circle)] + values)
        }
    }
}

extension WriteTransaction {
    /// Gives an item its name, which no other item has from then on.
    ///
    /// - Parameters:
    ///   - former: the name that the item had before it was deleted.
    ///   - version: the version of the circle from which on nothing has that name.
    public func putResourceName(_ name: ResourceName, insteadOf former: String?, since version: Int) throws {
        try execute(
            "DELETE FROM resource_names WHERE circle_id = $1 AND collection = $2 AND item_id = $3",
            [.text(name.circleID), .text(name.collection), .text(name.itemID)])
        try put(name)
        try execute(
            "DELETE FROM former_resource_names WHERE circle_id = $1 AND list = $2 AND name = $3",
            [.text(name.circleID), .text(name.list.rawValue), .text(name.name)])
        guard let former, !former.isSameText(as: name.name) else { return }
        try execute(
            """
            INSERT INTO former_resource_names (circle_id, list, name, version) VALUES ($1, $2, $3, $4)
            ON CONFLICT (circle_id, list, name) DO UPDATE SET version = EXCLUDED.version
            """, [.text(name.circleID), .text(name.list.rawValue), .text(former), .integer(version)])
    }
}
