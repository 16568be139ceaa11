// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsFront

extension Exchange {
    /// RFC 3253 section 3.6: the body says which report it is.
    func report() async throws -> Response {
        guard let body = try await xml() else { throw DAVFault.badRequest("The body says which report is meant.") }
        let subject = try await subject()
        guard let type = Reports.named(PropertyName(body)), type.isOffered(at: subject) else {
            throw DAVFault.forbidden(.dav("supported-report"), "This report is not offered here.")
        }
        // Filters and series may take long, and short requests must not wait for them.
        return try await LongWork.run { try await type.init(body: body).answer(self) }
    }
}
