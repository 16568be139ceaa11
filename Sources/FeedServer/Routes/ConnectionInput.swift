// SPDX-License-Identifier: Apache-2.0

import Base
import Storage

extension Connections.Draft {
    /// Reads the body that begins a connection.
    init(_ body: JSONValue) {
        var fields = FieldReader(body)
        provider = fields.choice("provider", Connection.Provider.self, isRequired: true)
        label = fields.text("label")
        userID = fields.identifier("userId")
        if let value = fields.value("config") {
            var found = FaultList()
            configuration.update(from: value, faults: &found)
            fields.add(found)
        }
        fields.finish()
        faults = fields.faults
    }
}

extension Connections.Change {
    /// Reads the body that changes a connection.
    init(_ body: JSONValue) {
        var fields = FieldReader(body)
        if let value = fields.value("config") {
            // What is wrong in it does not depend on what is changed.
            var (sample, found) = (ConnectionConfiguration(), FaultList())
            sample.update(from: value, faults: &found)
            fields.add(found)
            configure = { configuration in
                var known = FaultList()
                configuration.update(from: value, faults: &known)
            }
        }
        if body["label"] == .null { label = .clear }
        if let text = fields.text("label") { label = .set(text) }
        paused = fields.bool("paused")
        fields.finish()
        faults = fields.faults
    }
}
