// SPDX-License-Identifier: Apache-2.0

extension Refusal {
    /// A resource that a path names.
    package struct Resource: Sendable {
        /// The noun in sentences.
        let noun: String
        let code: ProblemCode

        init(_ noun: String, _ code: ProblemCode) { (self.noun, self.code) = (noun, code) }

        package static let appPassword = Self("app password", .appPasswordNotFound)
        package static let change = Self("change", .changeNotFound)
        package static let circle = Self("circle", .circleNotFound)
        package static let conflict = Self("conflict", .conflictNotFound)
        package static let connection = Self("connection", .connectionNotFound)
        package static let device = Self("device", .deviceNotFound)
        package static let event = Self("event", .eventNotFound)
        package static let feed = Self("feed", .feedNotFound)
        package static let `import` = Self("import", .importNotFound)
        package static let key = Self("service key", .keyNotFound)
        package static let member = Self("member", .memberNotFound)
        package static let occurrence = Self("occurrence", .occurrenceNotFound)
        package static let patient = Self("patient", .patientNotFound)
        package static let run = Self("run", .runNotFound)
        package static let secondFactor = Self("second factor", .secondFactorNotFound)
        package static let session = Self("session", .sessionNotFound)
        package static let subscription = Self("subscription", .subscriptionNotFound)
        package static let user = Self("user", .userNotFound)
        package static let visit = Self("visit", .visitNotFound)
        package static let webhook = Self("webhook", .webhookNotFound)
    }

    /// Reports a missing resource, in the same words as for a resource that exists but is not the caller's.
    package static func missing(_ resource: Resource) -> Refusal {
        Refusal(
            .missing, code: resource.code, detail: "There is no such \(resource.noun), or you may not see it.")
    }
}
