// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import KalendsCore

extension RouteTable.Route {
    /// The parameters of the path, then those of the query, then the header fields that affect this method.
    var parameters: [Operation.Parameter] {
        var all = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part in
            let name = String(part.dropFirst().dropLast())
            return Operation.Parameter(name: name, location: .path, schema: schema(ofPathPart: name))
        }
        all += operation.query
        if operation.hasTag {
            let text = Schema.string.described("Entity tags (RFC 9110 section 13.1).")
            all.append(
                Operation.Parameter(
                    name: method == .get ? "If-None-Match" : "If-Match", location: .header, schema: text))
        }
        if takesKey {
            let text = Schema.string.described(
                "A text of your choice, in quotes. The same request with it takes effect once and gets the same answer "
                    + "for a day.")
            all.append(Operation.Parameter(name: "Idempotency-Key", location: .header, schema: text))
        }
        return all
    }

    private func schema(ofPathPart name: String) -> Schema {
        switch name {
        case "circle", "user", "patient": .identifier
        case "id" where path.hasPrefix("/v1/circles/{circle}/"): .identifier
        case "start": Schema.string.described("The original start in UTC: YYYYMMDDTHHMMSSZ.")
        case "token": Schema.string.described("The feed's secret; `.ics` may follow.")
        case "name": Schema.string.described("Any name that ends in `.ics`, or in `.ifb` for free and busy.")
        default: Schema(["type": "string", "minLength": 1])
        }
    }

    /// The route's own refusals, and those that follow from its input.
    var refusals: [Int] {
        var all = Set(operation.refusals)
        if operation.access != .feedToken { all.formUnion([400, 503]) }
        if operation.access.needsCredential { all.formUnion([401, 403, 429]) }
        if path.contains("{") || !operation.access.isOfCircles(operation.need) { all.insert(404) }
        if path.contains("{"), method == .put { all.insert(400) }
        if operation.body != nil { all.formUnion([400, 413, 422]) }
        // The number of objects in a circle is limited.
        if operation.body != nil, path.hasPrefix("/v1/circles/{circle}/") { all.insert(409) }
        if !operation.query.isEmpty { all.insert(422) }
        if method != .get { all.formUnion([503, 507]) }
        if operation.hasTag, method != .get { all.insert(412) }
        if takesKey { all.formUnion([409, 413, 422, 429]) }
        return all.sorted()
    }
}
