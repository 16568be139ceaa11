// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Pages

extension Draft {
    /// The typed input with the problems that a use case found in it; nil for a refusal that is not about a field.
    ///
    /// - Parameters:
    /// - names: the form's fields.
    /// - field: the form's field for a pointer's last name, where they differ.
    /// - label: the field of a label that is already taken.
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
        case (.conflict, .calendarShared): problems = [Problem(field: "calendarId", code: .shared)]
        case (.conflict, .labelTaken), (.conflict, .subscriptionExists):
            problems = [Problem(field: label, code: .taken)]
        case (.conflict, .limitReached), (.conflict, .providerForbidden), (.conflict, .providerMisconfigured),
            (.conflict, .providerMismatch), (.conflict, .providerUnavailable), (.unavailable, .providerFailed),
            (.unavailable, .providerUnreachable), (_, .tooManyTries), (.unauthenticated, .passwordWrong):
            problems = [Problem(field: "", code: Self.code(refusal.code))]
        case (.unauthenticated, .signInEnded), (.forbidden, .secondFactorMissing), (.conflict, .sealedByAnotherKey):
            problems = [Problem(field: "", code: Self.code(refusal.code))]
        case (.unauthenticated, .codeWrong):
            problems = [Problem(field: "code", code: Self.code(refusal.code))]
        default: return nil
        }
    }

    /// Fields whose values a page must not contain.
    private static let secrets = ["password", "current", "new", "code", "secret"]

    /// The last name in a pointer, ignoring positions in lists.
    private static func field(of pointer: String) -> String {
        let steps = pointer.pieces(separatedBy: "/").filter { !$0.isEmpty && Int($0) == nil }
        return steps.last.map { String($0) } ?? ""
    }

    /// The code in the page's texts for one of our fault codes.
    private static func code(_ code: Fault.Code) -> Problem.Code {
        switch code {
        case .required, .empty: .missing
        case .tooLong, .tooMany: .tooLong
        case .outOfRange, .order: .range
        case .duplicate: .taken
        case .addressNotAllowed: .address
        case .fetchFailed: .unreachable
        case .fileProblem: .unreadable
        case .invalidTimeZone: .zone
        case .invalidDate: .date
        case .wrongCode: .code
        case .wrongPassword: .credentials
        case .guessable: .guessable
        default: .invalid
        }
    }

    private static func code(_ code: ProblemCode) -> Problem.Code {
        switch code {
        case .codeWrong: .code
        case .passwordWrong: .credentials
        case .secondFactorMissing: .factorMissing
        case .signInEnded: .again
        case .tooManyTries, .tooManyRequests: .tooOften
        case .providerUnreachable, .providerFailed: .unreachable
        case .fileUnreadable: .unreadable
        case .tooLarge: .tooLarge
        case .limitReached: .limit
        case .providerUnavailable, .providerForbidden, .providerMisconfigured, .providerMismatch: .provider
        default: .unknown
        }
    }
}
