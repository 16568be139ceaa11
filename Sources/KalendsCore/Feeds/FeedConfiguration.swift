// SPDX-License-Identifier: Apache-2.0

import ICalBridge
package import Storage

/// What a feed shows.
package struct FeedConfiguration: Hashable, Sendable {
    package enum Detail: String, Hashable, Sendable, CaseIterable {
        case full, titles, busy
    }

    package enum TaskForm: String, Hashable, Sendable, CaseIterable {
        case events, todos
    }

    package enum CompletedTasks: String, Hashable, Sendable, CaseIterable {
        case remove, keep
    }

    /// The kinds of items that are not shown; in the API these are `includeTasks` and similar fields.
    package var hidden: Set<ScheduleItem.Collection> = []
    package var includeImported = true
    /// Whether the owner's own events are shown in addition to the circle's, and those planned on their phones.
    package var includePersonal = false
    package var includePlanned = false
    /// The patients whose items are shown; nil stands for all patients and for items without one.
    package var patientIds: [String]?
    package var includeReminders = true
    /// Whether the people and the files of imported events are shown, if the import kept them.
    package var includeAttendees = false
    package var includeAttachments = false
    package var showMinimalDetails = false
    package var detail = Detail.full
    package var completedTasks = CompletedTasks.remove
    package var pastDays = 90
    package var futureDays = 400
    /// How tasks are written: only programs with task lists (Thunderbird, Evolution) show to-dos.
    var tasksAs = TaskForm.events
    /// The name of a CSS3 colour; nil leaves the choice to the reader.
    var color: String?

    package init() {}

    package func includes(_ collection: ScheduleItem.Collection) -> Bool { !hidden.contains(collection) }

    /// Whether the feed shows its owner's entries in addition to the circle's.
    var showsOwn: Bool { includePersonal || includePlanned }

    /// The stricter of the two settings that reduce the details shown.
    var level: DetailLevel {
        let own: DetailLevel =
            switch detail {
            case .full: .full
            case .titles: .titles
            case .busy: .busy
            }
        return showMinimalDetails ? max(own, .minimal) : own
    }

    /// Whether another configuration changes how each event looks, and not only which events are shown.
    func showsEventsDifferently(from other: FeedConfiguration) -> Bool {
        level != other.level || includeReminders != other.includeReminders || tasksAs != other.tasksAs
            || extras != other.extras
    }

    /// The people and files of imported events that are shown.
    var extras: Set<EventExtra> {
        Set(EventExtra.choices.filter { $0 == .attendees ? includeAttendees : includeAttachments })
    }
}

extension FeedConfiguration {
    /// Reads the stored form; fields that an older version did not store get their defaults.
    ///
    /// Throws `StorageError` if this version does not understand it, because the feed might show more than was
    /// intended.
    package init(stored text: String, _ kinds: ItemKinds) throws {
        var faults = FaultList()
        update(from: try JSONValue(parsing: text.utf8), kinds, faults: &faults)
        guard let fault = faults.first else { return }
        throw StorageError.unexpectedResult("A feed's configuration is not valid at \(fault.pointer).")
    }

    /// Returns the stored form; equal configurations have equal texts.
    func stored(_ kinds: ItemKinds) throws -> String { try json(kinds).text() }

    /// Updates the members that are given; the pointers of faults begin with `/config`.
    package mutating func update(from value: JSONValue, _ kinds: ItemKinds, faults: inout FaultList) {
        var fields = FieldReader(value, at: "/config")
        fields.readShown(kinds, { $0.feedSetting }, &hidden)
        includeImported = fields.bool("includeImported") ?? includeImported
        includePersonal = fields.bool("includePersonal") ?? includePersonal
        includePlanned = fields.bool("includePlanned") ?? includePlanned
        includeReminders = fields.bool("includeReminders") ?? includeReminders
        includeAttendees = fields.bool("includeAttendees") ?? includeAttendees
        includeAttachments = fields.bool("includeAttachments") ?? includeAttachments
        showMinimalDetails = fields.bool("showMinimalDetails") ?? showMinimalDetails
        detail = fields.choice("detail", Detail.self) ?? detail
        completedTasks = fields.choice("completedTasks", CompletedTasks.self) ?? completedTasks
        pastDays = fields.integer("pastDays", in: 0...3660) ?? pastDays
        futureDays = fields.integer("futureDays", in: 0...3660) ?? futureDays
        tasksAs = fields.choice("tasksAs", TaskForm.self) ?? tasksAs
        if value["color"] == .null { color = nil }
        if let name = fields.text("color") {
            if let known = CSSColor(name) {
                color = known.name
            } else {
                fields.fault("color", code: .notAChoice, "This must be a colour that CSS3 names, such as teal.")
            }
        }
        // Null is a value here: it stands for every patient.
        if value["patientIds"] == .null { patientIds = nil }
        if let ids = fields.patientIDs("patientIds") { patientIds = ids }
        fields.finish()
        faults += fields.faults
    }

    package func json(_ kinds: ItemKinds) -> JSONValue {
        let own: [ByteString: JSONValue] = [
            "includeImported": .bool(includeImported), "includePersonal": .bool(includePersonal),
            "includePlanned": .bool(includePlanned),
            "patientIds": patientIds.map { .array($0.map(JSONValue.string)) } ?? .null,
            "includeReminders": .bool(includeReminders), "includeAttendees": .bool(includeAttendees),
            "includeAttachments": .bool(includeAttachments), "showMinimalDetails": .bool(showMinimalDetails),
            "detail": .string(detail.rawValue), "completedTasks": .string(completedTasks.rawValue),
            "pastDays": .integer(pastDays), "futureDays": .integer(futureDays),
            "tasksAs": .string(tasksAs.rawValue), "color": JSONValue(color),
        ]
        return .object(
            own.merging(kinds.list.map { (ByteString($0.feedSetting), .bool(includes($0.collection))) }) { $1 })
    }
}

extension FieldReader {
    /// Reads which kinds of items are shown, from one member for each kind.
    mutating func readShown(
        _ kinds: ItemKinds, _ setting: (any ItemContent.Type) -> String, _ hidden: inout Set<ScheduleItem.Collection>
    ) {
        for kind in kinds.list {
            switch bool(setting(kind)) {
            case true?: hidden.remove(kind.collection)
            case false?: hidden.insert(kind.collection)
            case nil: break
            }
        }
    }
}
