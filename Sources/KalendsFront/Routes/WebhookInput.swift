// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Storage

extension Webhooks.Draft {
    /// Reads the body that creates a webhook; throws 422 with all faults.
    init(_ body: JSONValue) throws {
        var fields = FieldReader(body)
        let address = fields.webhookAddress(isRequired: true)
        let (circles, subjects) = (fields.webhookCircles(), fields.webhookSubjects())
        try fields.end()
        guard let address else { throw Refusal.invalid(fields.faults) }
        self.init(address: address, circles: circles, subjects: subjects)
    }
}

extension Webhooks.Change {
    /// Reads the body that changes a webhook; throws 422 with all faults.
    init(_ body: JSONValue) throws {
        self.init()
        var fields = FieldReader(body)
        address = fields.webhookAddress(isRequired: false)
        let (circles, subjects) = (fields.webhookCircles(), fields.webhookSubjects())
        if body["circles"] != nil { self.circles = circles.map(Edit.set) ?? .clear }
        if body["types"] != nil { self.subjects = subjects.map(Edit.set) ?? .clear }
        state = fields.choice("state", Wish.self)
        try fields.end()
    }
}

extension FieldReader {
    fileprivate mutating func webhookAddress(isRequired: Bool) -> WebhookAddress? {
        guard let text = text("url", isRequired: isRequired, maximum: 2000) else { return nil }
        guard let address = WebhookAddress(text) else {
            fault("url", WebhookAddress.rule)
            return nil
        }
        return address
    }

    fileprivate mutating func webhookCircles() -> [String]? {
        guard let value = value("circles") else { return nil }
        let ids = value.array?.compactMap(\.string) ?? []
        guard let count = value.array?.count, (1...1000).contains(count), ids.count == count,
            ids.allSatisfy(Identifier.isValid)
        else {
            fault("circles", code: .wrongType, "This must be a list of 1 to 1000 ids of circles, or null for all.")
            return nil
        }
        return ids
    }

    fileprivate mutating func webhookSubjects() -> [CircleChange.Subject]? {
        guard let value = value("types") else { return nil }
        let subjects = value.array?.compactMap { $0.string.flatMap { CircleChange.Subject(rawValue: $0) } } ?? []
        guard let count = value.array?.count, count > 0, subjects.count == count else {
            let known = CircleChange.Subject.allCases.map(\.rawValue).joined(separator: ", ")
            fault("types", code: .notAChoice, "This must be a list of some of \(known), or null for all.")
            return nil
        }
        return subjects
    }
}
