// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore

/// Refuses a path of the API in which a part is empty: `/v1/circles/x/` is not the circle `x`.
///
/// A client resolves `..` before it sends a path (RFC 3986 section 5.2.4), so that a DELETE of an item with that id
/// would delete the circle of the item.
struct WholePaths: RouterMiddleware {
    typealias Context = KalendsContext

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        guard Self.isWhole(request.uri.path) else { throw Refusal.noSuchPath }
        return try await next(request, context)
    }

    /// Reports whether a path is outside the API, or has text in each of its parts.
    static func isWhole(_ path: String) -> Bool {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let first = parts.first(where: { !$0.isEmpty }), first.elementsEqual("v1".utf8) else { return true }
        return !parts.dropFirst().contains(where: \.isEmpty)
    }
}
