// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Testing

@testable import ServerTestSupport

extension DAVClient {
    /// Sends a report whose answer is a multistatus.
    func report(
        _ path: String, _ name: String, _ content: String, depth: String? = nil, headers: HTTPFields = [:]
    ) async throws -> Multistatus {
        try Multistatus(
            try await send("REPORT", path, XML.root(name, content), depth: depth, headers: headers).expect(207))
    }

    /// Asks what changed since a token; nil begins.
    func sync(
        _ path: String, _ token: String?, _ more: String = "", depth: String? = "0"
    ) async throws -> Multistatus {
        try await report(
            path, "D:sync-collection",
            "<D:sync-token>\(token ?? "")</D:sync-token><D:sync-level>1</D:sync-level>\(more)"
                + "<D:prop><D:getetag/></D:prop>", depth: depth)
    }

    /// Returns the addresses of the events within a span.
    func query(_ path: String, _ start: String, _ end: String) async throws -> [String] {
        try await report(
            path, "C:calendar-query",
            "<D:prop><D:getetag/></D:prop>" + Self.filter("<C:time-range start=\"\(start)\" end=\"\(end)\"/>"),
            depth: "1"
        ).responses.map(\.href)
    }

    static func filter(_ content: String) -> String {
        "<C:filter><C:comp-filter name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\">\(content)"
            + "</C:comp-filter></C:comp-filter></C:filter>"
    }
}

extension Multistatus {
    var token: String? { root.child(.dav, "sync-token")?.trimmed }
    var hrefs: [String] { responses.map(\.href) }
}
