// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import Testing

@testable import KalendsCore

extension TestServer {
    /// Returns the whole trail in order, as the API lists it.
    func auditTrail() async throws -> [JSONValue] {
        var (items, cursor) = ([JSONValue](), "")
        repeat {
            let page = try await call(.get, "/v1/audit?limit=7\(cursor.isEmpty ? "" : "&cursor=\(cursor)")").expect(200)
            items += page.json["items"]?.array ?? []
            cursor = page.json["nextCursor"]?.string ?? ""
        } while !cursor.isEmpty
        return items.reversed()
    }

    /// Returns the id of the key that `call` sends.
    func keyID() async throws -> String {
        let keys = try await call(.get, "/v1/keys").json["items"]?.array ?? []
        return try #require(keys.first { $0["name"] == "test" }?["id"]?.string)
    }

    func verifyAudit(_ known: AuditHead? = nil) async throws -> AuditVerdict {
        try await services.store.read { try AuditTrail.verify(in: $0, known: known) }
    }
}
