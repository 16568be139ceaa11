// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Storage

extension Connections.Draft {
    /// Reads the body that creates a connection.
    init(_ body: JSONValue, _ kinds: ItemKinds) {
        self.init()
        var fields = FieldReader(body)
        provider = fields.choice("provider", Connection.Provider.self, isRequired: true)
        label = fields.text("label")
        userID = fields.identifier("userId")
        if let value = fields.value("config") {
            var found = FaultList()
            configuration.update(from: value, kinds, faults: &found)
            fields.add(found)
        }
        fields.finish()
        faults = fields.faults
    }
}

extension Connections.Change {
    /// Reads the body that changes a connection.
    init(_ body: JSONValue, _ kinds: ItemKinds) {
        self.init()
        var fields = FieldReader(body)
        if let value = fields.value("config") {
            // Whether the value is valid does not depend on what is changed.
            var (sample, found) = (ConnectionConfiguration(), FaultList())
            sample.update(from: value, kinds, faults: &found)
            fields.add(found)
            configure = { configuration in
                var known = FaultList()
                configuration.update(from: value, kinds, faults: &known)
            }
        }
        if body["label"] == .null { label = .clear }
        if let text = fields.text("label") { label = .set(text) }
        paused = fields.bool("paused")
        fields.finish()
        faults = fields.faults
    }
}

extension Connections.AccountDraft {
    /// Reads the body that contains a CalDAV account.
    init(_ body: JSONValue) {
        self.init()
        var fields = FieldReader(body)
        address = fields.text("url", isRequired: true, maximum: 8192)
        username = fields.text("username", isRequired: true)
        password = fields.password("password", isNew: false)
        if password.map({ $0.bytes.isEmpty || $0.bytes.count > 1024 }) == true {
            fields.fault("password", code: .outOfRange, "This must have 1 to 1024 bytes in UTF-8.")
        }
        fields.finish()
        faults = fields.faults
    }
}

extension Connections.CalendarChoice {
    /// Reads the body that chooses a calendar; throws 422 with all faults.
    init(_ body: JSONValue) throws {
        var fields = FieldReader(body)
        let known = fields.text("calendarId", isRequired: fields.has("calendarId"), maximum: 8192)
        var name: String?
        var isNew = false
        if let value = fields.value("create") {
            isNew = true
            var inner = FieldReader(value, at: "/create")
            name = inner.text("name", maximum: 200)
            inner.finish()
            fields.add(inner.faults)
        }
        if known != nil && isNew {
            fields.fault("create", code: .contradiction, "A calendar is either chosen or made.")
        } else if known == nil, !isNew, !fields.has("calendarId"), !fields.has("create") {
            fields.fault("calendarId", code: .required, "Either this or create is required.")
        }
        let sharesIt = fields.bool("shareWith") ?? false
        try fields.end()
        self.init(known.map { .known($0) } ?? .new(name), sharesIt: sharesIt)
    }
}
