// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import KalendsFront

extension Exchange {
    /// RFC 3253 section 3.6: the body says which report it is.
    func report() async throws -> Response {
        let report = try await readReport(at: try await subject())
        // Nothing of the body is left, and the answer's reader may be slow.
        context.memory.letGoOfBody()
        if report.weight > MemoryShare.free { try work?.place.keep(report.weight) }
        return try await report.answer(self)
    }

    private func readReport(at subject: Subject) async throws -> any Report {
        guard let body = try await xml() else { throw DAVFault.badRequest("The body must say which report is meant.") }
        guard let type = Reports.named(PropertyName(body)), type.isOffered(at: subject) else {
            throw DAVFault.forbidden(.dav("supported-report"), "This report is not offered here.")
        }
        return try type.init(body: body)
    }
}
