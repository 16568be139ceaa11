// SPDX-License-Identifier: Apache-2.0

package import Base
import Storage

/// What a connection keeps in step, and how often (contract, section 7).
package struct ConnectionConfiguration: Hashable, Sendable {
    var syncTasks = true
    var syncShifts = true
    var syncAppointments = true
    var syncFollowUps = true
    var includeReminders = true
    var showMinimalDetails = false
    var detail = FeedConfiguration.Detail.full
    /// Nil is every patient, and items without one.
    var patientIds: [String]?
    var completedTasks = FeedConfiguration.CompletedTasks.remove
    package var twoWay = true
    package var syncIntervalMinutes = 15
    var pastDays = 30
    var futureDays = 400

    package init() {}

    package static let minutes = 5...1440
    package static let days = 0...3660

    /// What a feed with the same wishes shows: both choose and word their items by the same rules.
    package var feed: FeedConfiguration {
        var feed = FeedConfiguration()
        feed.includeTasks = syncTasks
        feed.includeShifts = syncShifts
        feed.includeAppointments = syncAppointments
        feed.includeFollowUps = syncFollowUps
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
    /// Reads the stored form; what an older version did not store has its default.
    ///
    /// Throws `StorageError` for what this version does not understand: more would be shown than was meant.
    package init(stored text: String) throws {
        var faults = FaultList()
        update(from: try JSONValue(parsing: text.utf8), faults: &faults)
        guard let fault = faults.first else { return }
        throw StorageError.unexpectedResult("A connection's configuration is not valid at \(fault.pointer).")
    }

    /// The stored form; equal configurations are equal texts.
    func stored() throws -> String { try json.text() }

    /// Takes over the members that are given; faults are under `/config`.
    package mutating func update(from value: JSONValue, faults: inout FaultList) {
        var fields = FieldReader(value, at: "/config")
        syncTasks = fields.bool("syncTasks") ?? syncTasks
        syncShifts = fields.bool("syncShifts") ?? syncShifts
        syncAppointments = fields.bool("syncAppointments") ?? syncAppointments
        syncFollowUps = fields.bool("syncFollowUps") ?? syncFollowUps
        includeReminders = fields.bool("includeReminders") ?? includeReminders
        showMinimalDetails = fields.bool("showMinimalDetails") ?? showMinimalDetails
        detail = fields.choice("detail", FeedConfiguration.Detail.self) ?? detail
        completedTasks = fields.choice("completedTasks", FeedConfiguration.CompletedTasks.self) ?? completedTasks
        twoWay = fields.bool("twoWay") ?? twoWay
        syncIntervalMinutes = fields.integer("syncIntervalMinutes", in: Self.minutes) ?? syncIntervalMinutes
        pastDays = fields.integer("pastDays", in: Self.days) ?? pastDays
        futureDays = fields.integer("futureDays", in: Self.days) ?? futureDays
        // Null is a separate value here: every patient.
        if value["patientIds"] == .null { patientIds = nil }
        if let ids = fields.patientIDs("patientIds") { patientIds = ids }
        fields.finish()
        faults += fields.faults
    }

    package var json: JSONValue {
        [
            "syncTasks": .bool(syncTasks), "syncShifts": .bool(syncShifts),
            "syncAppointments": .bool(syncAppointments), "syncFollowUps": .bool(syncFollowUps),
            "includeReminders": .bool(includeReminders), "showMinimalDetails": .bool(showMinimalDetails),
            "detail": .string(detail.rawValue),
            "patientIds": patientIds.map { .array($0.map(JSONValue.string)) } ?? .null,
            "completedTasks": .string(completedTasks.rawValue), "twoWay": .bool(twoWay),
            "syncIntervalMinutes": .integer(syncIntervalMinutes), "pastDays": .integer(pastDays),
            "futureDays": .integer(futureDays),
        ]
    }
}
