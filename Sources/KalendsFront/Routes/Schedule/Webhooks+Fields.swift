// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Webhooks.Draft {
    static let body = InputBody(
        .required("url", .webhookAddress), .optional("circles", .webhookCircles), .optional("types", .webhookSubjects),
        example: ["url": "https://app.example/kalends"])

    /// Reads the body that creates a webhook; throws 422 with all faults.
    init(_ body: JSONValue) throws {
        let (address, circles, subjects) = try Self.body.read(body)
        self.init(address: address, circles: circles, subjects: subjects)
    }
}

extension Webhooks.Change {
    static let body = InputBody(
        .optional("url", .webhookAddress), .edited("circles", .webhookCircles), .edited("types", .webhookSubjects),
        .optional("state", InputType<RequestedState>.choice), example: ["state": "disabled"])

    /// Reads the body that changes a webhook; throws 422 with all faults.
    init(_ body: JSONValue) throws {
        self.init()
        (address, circles, subjects, state) = try Self.body.read(body)
    }
}

extension InputType<WebhookAddress> {
    fileprivate static var webhookAddress: InputType {
        InputType<String>(Schema.text(2000).described("The host application's own address, with http or https.")) {
            $2.text($0, isRequired: $1, maximum: 2000)
        }.made(.invalid, WebhookAddress.rule) { WebhookAddress($0) }
    }
}

extension InputType<[String]> {
    fileprivate static var webhookCircles: InputType {
        .list(
            .array(of: .identifier, minimum: 1, maximum: 1000), of: 1...1000, .wrongType,
            "This must be a list of 1 to 1000 ids of circles, or null for all."
        ) { $0.string.flatMap { Identifier.isValid($0) ? $0 : nil } }
    }
}

extension InputType<[CircleChange.Subject]> {
    fileprivate static var webhookSubjects: InputType {
        let known = CircleChange.Subject.allCases.map(\.rawValue).joined(separator: ", ")
        return .list(
            .array(of: .choice(CircleChange.Subject.self), minimum: 1), of: 1...Int.max, .notAChoice,
            "This must be a list of some of \(known), or null for all."
        ) { $0.string.flatMap { CircleChange.Subject(rawValue: $0) } }
    }
}
