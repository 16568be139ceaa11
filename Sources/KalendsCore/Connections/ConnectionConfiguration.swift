// SPDX-License-Identifier: Apache-2.0

package import Base
package import Storage

/// What a connection synchronizes, and how often.
package struct ConnectionConfiguration: Hashable, Sendable {
    /// The kinds of items that are not synchronized; in the API these are `syncTasks` and similar fields.
    package var hidden: Set<ScheduleItem.Collection> = []
    var includeReminders = true
    var showMinimalDetails = false
    var detail = FeedConfiguration.Detail.full
    /// The patients whose items are shown; nil stands for all patients and for items without one.
    var patientIds: [String]?
    var completedTasks = FeedConfiguration.CompletedTasks.remove
    package var twoWay = true
    package var syncIntervalMinutes = 15
    var pastDays = 30
    var futureDays = 400

    package init() {}

    package static let minutes = 5...1440
    package static let days = 0...3660

    /// The configuration of a feed with the same settings: feeds and connections choose and word their items by the
    /// same rules.
    package var feed: FeedConfiguration {
        var feed = FeedConfiguration()
        feed.hidden = hidden
        feed.includeImported = false
        feed.includeReminders = includeReminders
        feed.showMinimalDetails = showMinimalDetails
        feed.detail = detail
        feed.patientIds = patientIds
        feed.completedTasks = completedTasks
        feed.pastDays = pastDays
        feed.futureDays = futureDays
        return feed
    }
}

extension ConnectionConfiguration {
    /// Reads the stored form; fields that an older version did not store get their defaults.
    ///
    /// Throws `StorageError` if this version does not understand it, because more might be shown than was intended.
    package init(stored text: String, _ kinds: ItemKinds) throws {
        var faults = FaultList()
        update(from: try JSONValue(parsing: text.utf8), kinds, faults: &faults)
        guard let fault = faults.first else { return }
        throw StorageError.unexpectedResult("A connection's configuration is not valid at \(fault.pointer).")
    }

    /// Returns the stored form; equal configurations have equal texts.
    func stored(_ kinds: ItemKinds) throws -> String { try json(kinds).text() }

    /// Updates the members that are given; the pointers of faults begin with `/config`.
    package mutating func update(from value: JSONValue, _ kinds: ItemKinds, faults: inout FaultList) {
        var fields = FieldReader(value, at: "/config")
        fields.readShown(kinds, { $0.connectionSetting }, &hidden)
        includeReminders = fields.bool("includeReminders") ?? includeReminders
        showMinimalDetails = fields.bool("showMinimalDetails") ?? showMinimalDetails
        detail = fields.choice("detail", FeedConfiguration.Detail.self) ?? detail
        completedTasks = fields.choice("completedTasks", FeedConfiguration.CompletedTasks.self) ?? completedTasks
        twoWay = fields.bool("twoWay") ?? twoWay
        syncIntervalMinutes = fields.integer("syncIntervalMinutes", in: Self.minutes) ?? syncIntervalMinutes
        pastDays = fields.integer("pastDays", in: Self.days) ?? pastDays
        futureDays = fields.integer("futureDays", in: Self.days) ?? futureDays
        // Null is a value here: it stands for every patient.
        if value["patientIds"] == .null { patientIds = nil }
        if let ids = fields.patientIDs("patientIds") { patientIds = ids }
        fields.finish()
        faults += fields.faults
    }

    package func json(_ kinds: ItemKinds) -> JSONValue {
        let own: [ByteString: JSONValue] = [
            "includeReminders": .bool(includeReminders), "showMinimalDetails": .bool(showMinimalDetails),
            "detail": .string(detail.rawValue),
            "patientIds": patientIds.map { .array($0.map(JSONValue.string)) } ?? .null,
            "completedTasks": .string(completedTasks.rawValue), "twoWay": .bool(twoWay),
            "syncIntervalMinutes": .integer(syncIntervalMinutes), "pastDays": .integer(pastDays),
            "futureDays": .integer(futureDays),
        ]
        return .object(
            own.merging(kinds.list.map { (ByteString($0.connectionSetting), .bool(!hidden.contains($0.collection))) }) {
                $1
            })
    }
}
