// SPDX-License-Identifier: Apache-2.0

/// The reason why a request is not carried out, in the product's own words; each interface shows it in its own way.
///
/// It never holds a credential, a path or a stored value.
package struct Refusal: Error, Sendable {
    /// The kind of reason for which a request is refused.
    package enum Kind: Hashable, Sendable {
        /// The request cannot be read at all.
        case badRequest
        /// The caller is unknown, or the credential is not accepted.
        case unauthenticated
        /// The caller may not do this.
        case forbidden
        /// The caller's key may not do this, but a key with this scope may.
        case lacksScope(String)
        /// The resource does not exist, or the caller may not see it.
        case missing
        /// The current state does not allow the request.
        case conflict
        /// The resource existed once.
        case gone
        /// The resource has changed since the caller read it.
        case preconditionFailed
        case tooLarge
        /// Fields or files were read but are not valid.
        case invalid
        /// The caller sends too many requests.
        case tooMany
        /// The server failed.
        case failed
        /// The server cannot do this at present.
        case unavailable
        /// The server's disk is full.
        case outOfSpace

        /// The code of a refusal of this kind that does not have its own.
        var code: ProblemCode {
            switch self {
            case .badRequest: .badRequest
            case .unauthenticated: .credentialUnknown
            case .forbidden: .forbidden
            case .lacksScope: .scopeMissing
            case .missing: .notFound
            case .conflict: .conflict
            case .gone: .gone
            case .preconditionFailed: .preconditionFailed
            case .tooLarge: .tooLarge
            case .invalid: .invalidFields
            case .tooMany: .tooManyRequests
            case .failed: .serverFailed
            case .unavailable: .unavailable
            case .outOfSpace: .diskFull
            }
        }
    }

    package var kind: Kind
    package var code: ProblemCode
    /// One sentence for people.
    package var detail: String
    package var faults: FaultList
    /// Seconds after which the request may be repeated; nil when that is unknown.
    package var retryAfter: Int?
    /// The fields for programs.
    package var extra: Extra?

    /// - Parameter code: nil for the code of the kind.
    package init(
        _ kind: Kind, code: ProblemCode? = nil, detail: String, faults: FaultList = FaultList(),
        retryAfter: Int? = nil, extra: Extra? = nil
    ) {
        (self.kind, self.code, self.detail) = (kind, code ?? kind.code, detail)
        (self.faults, self.retryAfter, self.extra) = (faults, retryAfter, extra)
    }

    package init(_ kind: Kind, code: ProblemCode? = nil, detail: String, faults: [Fault]) {
        self.init(kind, code: code, detail: detail, faults: FaultList(faults))
    }

    package static func invalid(_ faults: FaultList) -> Refusal {
        let detail =
            faults.total == 1
            ? "One field is not valid." : "\(faults.total) fields are not valid."
        return Refusal(.invalid, detail: detail, faults: faults)
    }

    static func invalid(_ faults: [Fault]) -> Refusal { .invalid(FaultList(faults)) }

    package static func invalid(_ pointer: String, code: Fault.Code = .invalid, _ message: String) -> Refusal {
        .invalid([Fault(pointer: pointer, code: code, message: message)])
    }

    package static func badRequest(_ detail: String, code: ProblemCode = .badRequest) -> Refusal {
        Refusal(.badRequest, code: code, detail: detail)
    }

    static let forbidden = Refusal(.forbidden, code: .roleInsufficient, detail: "Your role does not allow this.")
    package static let failed = Refusal(.failed, detail: "The server failed. Its log has the details.")

    package static func tooLarge(limit: Int) -> Refusal {
        Refusal(.tooLarge, detail: "The body is larger than \(limit) bytes, the most that is accepted here.")
    }

    static func conflict(_ detail: String, code: ProblemCode = .conflict, extra: Extra? = nil) -> Refusal {
        Refusal(.conflict, code: code, detail: detail, extra: extra)
    }
}
