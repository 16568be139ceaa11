// SPDX-License-Identifier: Apache-2.0

import Outbound

extension OutboundFailure {
    /// The failure as a refusal for whoever gave the address in the field `url`.
    var refusal: Refusal {
        let fault = Fault(
            pointer: "/url", code: kind == .address ? .addressNotAllowed : .fetchFailed, message: message)
        if case .tooLarge(let limit) = kind {
            var refusal = Refusal.tooLarge(limit: limit)
            refusal.detail = "The calendar is larger than \(limit) bytes, the most that is accepted here."
            refusal.faults = [fault]
            return refusal
        }
        return .invalid([fault])
    }
}
