// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import Hummingbird

/// Addresses that another target answers, with all that stands in front of every route: limits, log, metrics.
package struct FrontDoor: Sendable {
    package typealias Answer = @Sendable (Request, KalendsContext) async throws -> Response

    let paths: [String]
    let methods: [HTTPRequest.Method]
    let answer: Answer

    /// - Parameters:
    ///   - paths: the router's patterns, which are also the names in logs and metrics.
    ///   - methods: nil for all, where the answer to a method that is not supported is the door's own.
    package init(_ paths: [String], methods: [HTTPRequest.Method]? = nil, answer: @escaping Answer) {
        (self.paths, self.methods, self.answer) = (paths, methods ?? RouteTable.registered, answer)
    }
}

extension RouteTable {
    /// Adds the addresses of a door, beside the methods that a path has already.
    mutating func add(_ door: FrontDoor) {
        for path in door.paths {
            for method in door.methods { add(method, path, door.answer) }
        }
    }
}
