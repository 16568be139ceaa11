// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge

/// A question that a client asks with REPORT (RFC 3253 section 3.6).
protocol Report: Sendable {
    /// The name of the body's root element.
    static var name: PropertyName { get }

    /// Whether it is answered at such a resource; `DAV:supported-report-set` lists it there.
    static func isOffered(at subject: Subject) -> Bool

    /// Roughly how many bytes of the request body stay in memory until the answer is complete.
    var weight: Int { get }

    /// Reads the body; throws `DAVFault`, such as `badRequest` or 403 with a condition.
    init(body: XMLElement) throws

    /// Answers it, with `Exchange.multistatus` where the answer is one.
    func answer(_ exchange: Exchange) async throws -> Response
}

extension Report {
    var weight: Int { 0 }
}
