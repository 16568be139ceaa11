// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore

extension Feeds.Draft {
    /// Reads the body that creates a feed; throws 422 with all faults.
    init(_ body: JSONValue, _ kinds: ItemKinds, for caller: Caller, now: Int) throws {
        self.init()
        var fields = FieldReader(body)
        label = fields.text("label")
        expiresAt = fields.instant("expiresAt")?.milliseconds
        if let fault = Feeds.expiryFault(expiresAt, now: now) { fields.add([fault]) }
        userID = fields.identifier("userId")
        // A field that is present but cannot be read is already a fault.
        if userID != nil || !fields.has("userId"), let fault = Feeds.ownerFault(userID, for: caller) {
            fields.add([fault])
        }
        if let value = fields.value("config") {
            var faults = FaultList()
            configuration.update(from: value, kinds, faults: &faults)
            fields.add(faults)
        }
        try fields.end()
    }
}

extension Feeds.Change {
    /// Reads the body that changes a feed.
    init(_ body: JSONValue, _ kinds: ItemKinds, now: Int) {
        self.init()
        var fields = FieldReader(body)
        if let value = fields.value("config") {
            // Whether the value is valid does not depend on what is changed.
            var (sample, found) = (FeedConfiguration(), FaultList())
            sample.update(from: value, kinds, faults: &found)
            fields.add(found)
            configure = { configuration in
                var known = FaultList()
                configuration.update(from: value, kinds, faults: &known)
            }
        }
        if body["label"] == .null { label = .clear }
        if let text = fields.text("label") { label = .set(text) }
        if body["expiresAt"] == .null { expiresAt = .clear }
        if let time = fields.instant("expiresAt")?.milliseconds {
            expiresAt = .set(time)
            if let fault = Feeds.expiryFault(time, now: now) { fields.add([fault]) }
        }
        clearsAttention = fields.value("attention") != nil
        if clearsAttention, body["attention"] != .array([]) {
            fields.fault("attention", code: .outOfRange, "This can only be cleared: send [].")
        }
        fields.finish()
        faults = fields.faults
    }
}
