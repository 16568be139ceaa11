// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension View where Value: Sendable {
    /// The members by which a value reads and writes itself.
    init(_ form: JSONForm<Value>) {
        self.init(
            form.members.map { own in
                var member = Member(own.name, own.schema, own.json)
                member.isRequired = own.isRequired
                return member
            })
    }
}

extension Imports.Report: Viewed {
    static let view = View(
        View(form).members + [.text("nextCursor") { $0.next.map { Page.cursor(String($0)) } }])
}
