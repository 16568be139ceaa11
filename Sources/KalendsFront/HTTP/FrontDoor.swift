// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
package import Hummingbird

/// Addresses that another target answers, behind everything that is in front of every route: limits, log, metrics.
package struct FrontDoor: Sendable {
    package typealias Answer = @Sendable (Request, KalendsContext) async throws -> Response

    let paths: [String]
    let answer: Answer

    /// - Parameter paths: the router's patterns, which are also the names in logs and metrics.
    package init(_ paths: [String], answer: @escaping Answer) { (self.paths, self.answer) = (paths, answer) }
}

extension RouteTable {
    /// Adds the addresses of a door, which answers all methods but those that a path has already, and HEAD with GET.
    mutating func add(_ door: FrontDoor) {
        for path in door.paths {
            let known = handlers.first { $0.path == path }?.methods.map(\.method) ?? []
            for method in Self.registered where !known.contains(method) { add(method, path, door.answer) }
        }
    }
}
