// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Pages

extension Draft {
    /// What was typed, and what a use case says is wrong with it; nil for a refusal that is about no field.
    ///
    /// - Parameters:
    ///   - names: the form's fields.
    ///   - field: the form's field for a pointer's last name, where they differ.
    ///   - label: the field that a label which is taken is in.
    init?(
        _ refusal: Refusal, of form: PageForm, _ names: [String], fields: [(own: String, field: String)] = [],
        label: String = "label"
    ) {
        self.init(values: form.typed(names.filter { !Self.secrets.contains($0) }))
        switch (refusal.kind, refusal.code) {
        case (.invalid, _):
            problems = refusal.faults.map { fault in
                let name = Self.field(of: fault.pointer)
                let field = fields.first { $0.own == name }?.field ?? name
                let isKnown = names.contains { $0.isSameText(as: field) }
                return Problem(field: isKnown ? field : "", code: Self.code(fault.code))
            }
            if problems.isEmpty { problems = [Problem(field: "", code: Self.code(refusal.code))] }
        case (.conflict, .labelTaken), (.conflict, .subscriptionExists):
            problems = [Problem(field: label, code: "taken")]
        case (.conflict, .limitReached), (.conflict, .providerForbidden), (.conflict, .providerMisconfigured),
            (.conflict, .providerMismatch), (.conflict, .providerUnavailable), (.unavailable, .providerFailed),
            (.unavailable, .providerUnreachable), (_, .tooManyTries), (.unauthenticated, .passwordWrong):
            problems = [Problem(field: "", code: Self.code(refusal.code))]
        default: return nil
        }
    }

    /// Fields whose values no page has.
    private static let secrets = ["password", "current", "new"]

    /// The last name of a pointer, without the places of lists.
    private static func field(of pointer: String) -> String {
        let steps = pointer.pieces(separatedBy: "/").filter { !$0.isEmpty && Int($0) == nil }
        return steps.last.map { String($0) } ?? ""
    }

    /// The words' code for one of ours.
    private static func code(_ code: Fault.Code) -> String {
        switch code {
        case .required, .empty: "missing"
        case .tooLong, .tooMany: "tooLong"
        case .outOfRange, .order: "range"
        case .duplicate: "taken"
        case .addressNotAllowed: "address"
        case .fetchFailed: "unreachable"
        case .fileProblem: "unreadable"
        case .invalidTimeZone: "zone"
        case .invalidDate: "date"
        case .wrongPassword: "credentials"
        case .guessable: "guessable"
        default: "invalid"
        }
    }

    private static func code(_ code: ProblemCode) -> String {
        switch code {
        case .passwordWrong: "credentials"
        case .tooManyTries, .tooManyRequests: "tooOften"
        case .providerUnreachable, .providerFailed: "unreachable"
        case .fileUnreadable: "unreadable"
        case .tooLarge: "tooLarge"
        case .limitReached: "limit"
        case .providerUnavailable, .providerForbidden, .providerMisconfigured, .providerMismatch: "provider"
        default: "unknown"
        }
    }
}
