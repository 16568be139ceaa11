// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore

extension RouteTable.Route {
    /// Wraps a handler so that it runs only if the route knows all query parameters, and on the threads for long answers
    /// if its answer may be one.
    func admitting(_ handler: @escaping Handler) -> Handler {
        let known = operation.query.filter { $0.location == .query }.map(\.name)
        let takesLong = operation.takesLong || known.contains("cursor")
        // Calendar apps add arbitrary parameters to a feed's address.
        let isChecked = operation.access != .feedToken && !operation.takesAnyQuery
        return { request, context in
            if isChecked { try request.checkQuery(known: known) }
            guard takesLong else { return try await handler(request, context) }
            return try await LongWork.run(for: context.sender) { try await handler(request, context) }
        }
    }
}

extension Request {
    /// Throws 400 for query parameters with other names than these, and for a repeated one.
    func checkQuery(known: [String]) throws {
        guard let query = uri.query, !query.isEmpty else { return }
        var given: Set<ByteString> = []
        var faults = FaultList()
        for part in query.utf8.split(separator: UInt8(ascii: "&")) {
            // Names are not decoded: none of ours has a letter that would be encoded.
            let name = String(Substring(part.prefix { $0 != UInt8(ascii: "=") }))
            guard let own = known.first(where: { $0.isSameText(as: name) }) else {
                faults.append(
                    Fault(
                        pointer: "/query" + JSONPointer.step(name), code: .unknownParameter,
                        message: "This query parameter is unknown. \(Self.sentence(known))"))
                continue
            }
            if !given.insert(own).inserted {
                faults.append(
                    Fault(
                        pointer: "/query/\(own)", code: .duplicate, message: "This query parameter is given twice."))
            }
        }
        guard let first = faults.first else { return }
        let detail =
            first.code == .unknownParameter
            ? "A query parameter is unknown. \(Self.sentence(known))" : "A query parameter is given twice."
        throw Refusal(
            .badRequest, code: first.code == .unknownParameter ? .unknownParameter : .badRequest,
            detail: detail, faults: faults)
    }

    private static func sentence(_ known: [String]) -> String {
        known.isEmpty ? "There are none." : "The known names are \(known.sorted().joined(separator: ", "))."
    }
}
