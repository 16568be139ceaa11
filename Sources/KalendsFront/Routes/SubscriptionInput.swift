// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore

extension Subscriptions.Draft {
    /// Reads the body that creates a subscription.
    init(_ body: JSONValue) {
        self.init()
        var fields = FieldReader(body)
        address = fields.text("url", isRequired: true, maximum: 8192)
        label = fields.text("label")
        refreshMinutes = fields.integer("refreshMinutes", in: Subscriptions.minutes) ?? refreshMinutes
        fields.finish()
        faults = fields.faults
    }
}

extension Subscriptions.Change {
    /// Reads the body that changes a subscription.
    init(_ body: JSONValue) {
        self.init()
        var fields = FieldReader(body)
        let text = fields.text("label")
        if body["label"] != nil { label = text.map(Edit.set) ?? .clear }
        refreshMinutes = fields.integer("refreshMinutes", in: Subscriptions.minutes)
        state = fields.choice("state", Wish.self)
        fields.finish()
        faults = fields.faults
    }
}
