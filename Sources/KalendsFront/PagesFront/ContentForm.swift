// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Pages

/// The form of what a feed or a connection shows, as the API's body that says the same.
struct ContentForm: Sendable {
    let form: PageForm
    /// Whether it is a connection's, which names kinds in another way and has fields of its own.
    let isConnection: Bool
    let kinds: ItemKinds

    /// The form's fields.
    var names: [String] {
        let own = [
            "label", "kinds", "patients", "detail", "completedTasks", "includeReminders", "pastDays", "futureDays",
        ]
        return isConnection ? own + ["twoWay", "syncIntervalMinutes"] : own
    }

    /// The form's field for each name of the API that is another.
    static let fields: [(own: String, field: String)] = [("patientIds", "patients")]

    /// What `config` is in the API.
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
        if isConnection { members["twoWay"] = .bool(form.isOn("twoWay")) }
        // What is chosen here is the whole of it: the older wish for less is in it.
        members["showMinimalDetails"] = false
        for name in ["detail", "completedTasks"] { members[ByteString(name)] = form[name].map(JSONValue.string) }
        for name in isConnection ? ["pastDays", "futureDays", "syncIntervalMinutes"] : ["pastDays", "futureDays"] {
            guard let text = form[name] else { continue }
            members[ByteString(name)] = Int(text).map { .integer($0) } ?? .string(text)
        }
        return .object(members)
    }

    /// A body with `config`, and with the label as it was typed: an empty one is none.
    var body: JSONValue {
        var members: [ByteString: JSONValue] = ["config": configuration]
        if let label = form["label"] { members["label"] = label.isEmpty ? .null : .string(label) }
        return .object(members)
    }
}
