// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Pages

/// Converts the form of a feed's or a connection's contents into the equivalent body of the API.
struct ContentForm: Sendable {
    let form: PageForm
    /// Whether the form is a connection's, which names kinds differently and has additional fields.
    let isConnection: Bool
    let kinds: ItemKinds

    /// The names of the form's fields.
    var names: [String] {
        let own = [
            "label", "kinds", "patients", "detail", "completedTasks", "includeReminders", "pastDays", "futureDays",
        ]
        return own
            + (isConnection ? ["twoWay", "syncIntervalMinutes"] : ["includeAttendees", "includeAttachments"])
    }

    /// The form's field for each field of the API that has another name.
    static let fields: [(own: String, field: String)] = [("patientIds", "patients")]

    /// The value of `config` in the API.
    var configuration: JSONValue {
        let chosen = Set(form.all("kinds").compactMap { EntryKind(text: $0) })
        var settings = kinds.list.map { (EntryKind($0), isConnection ? $0.connectionSetting : $0.feedSetting) }
        if !isConnection {
            settings += [
                (.imported, "includeImported"), (.personal, "includePersonal"), (.planned, "includePlanned"),
            ]
        }
        var members: [ByteString: JSONValue] = [:]
        for (kind, name) in settings { members[name] = .bool(chosen.contains(kind)) }
        let patients = form.all("patients")
        members["patientIds"] = patients.isEmpty ? .null : .array(patients.map(JSONValue.string))
        members["includeReminders"] = .bool(form.isOn("includeReminders"))
        for name in isConnection ? ["twoWay"] : ["includeAttendees", "includeAttachments"] {
            members[ByteString(name)] = .bool(form.isOn(name))
        }
        // This form sets everything, including what the older option for minimal details controls.
        members["showMinimalDetails"] = false
        for name in ["detail", "completedTasks"] { members[ByteString(name)] = form[name].map(JSONValue.string) }
        for name in isConnection ? ["pastDays", "futureDays", "syncIntervalMinutes"] : ["pastDays", "futureDays"] {
            guard let text = form[name] else { continue }
            members[ByteString(name)] = Int(text).map { .integer($0) } ?? .string(text)
        }
        return .object(members)
    }

    /// A body with `config` and the label as it was typed; an empty label becomes null.
    var body: JSONValue {
        var members: [ByteString: JSONValue] = ["config": configuration]
        if let label = form["label"] { members["label"] = label.isEmpty ? .null : .string(label) }
        return .object(members)
    }
}
