// SPDX-License-Identifier: Apache-2.0

import Calendar
import HTTPTypes
import Hummingbird
import KalendsCore
import Synchronization

/// Adds to every answer to a request that uses something deprecated since when it is deprecated, until when it stays, and where
/// to read more: the fields `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`.
struct DeprecationNotices: RouterMiddleware {
    typealias Context = KalendsContext

    private struct Key: Hashable {
        let method: HTTPRequest.Method
        let path: ByteString
    }

    private let operations: [Key: Operation]
    /// The path of the page that describes the API.
    private let page: String

    /// Nil when nothing in these routes is deprecated.
    ///
    /// - Parameter base: the path below which clients see the server.
    init?(_ routes: [RouteTable.Route], base: String) {
        let ending = routes.filter { !$0.operation.deprecations.isEmpty }
        guard !ending.isEmpty else { return nil }
        page = base + "/docs"
        operations = Dictionary(
            uniqueKeysWithValues: ending.map {
                // Reads of feeds are answered in front of every middleware, so the fields would never be sent.
                precondition($0.operation.access != .feedToken, "Feed addresses cannot be deprecated.")
                return (Key(method: $0.method, path: ByteString($0.path)), $0.operation)
            })
    }

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        let method = request.method == .head ? .get : request.method
        guard let path = context.endpointPath, let operation = operations[Key(method: method, path: ByteString(path))]
        else { return try await next(request, context) }
        var context = context
        let given = GivenFields()
        context.givenFields = given
        var response = try await next(request, context)
        let used = operation.deprecations.filter { notice in
            switch notice.part {
            case .operation: true
            case .parameter(let name): request.uri.queryParameters[Substring(name)] != nil
            case .field(let name): given.contains(name)
            }
        }
        guard let since = used.map(\.since).min(), let sunset = used.map(\.sunset).min() else { return response }
        response.headers[.deprecation] = "@\(Self.instant(since).seconds)"
        response.headers[.sunset] = Self.instant(sunset).httpDate
        response.headers.append(
            HTTPField(name: .link, value: "<\(page)#\(operation.id)>; rel=\"deprecation\"; type=\"text/html\""))
        return response
    }

    /// The first second of a day in UTC.
    private static func instant(_ date: CivilDate) -> Instant { Instant(seconds: date.daysSinceEpoch * 86_400) }
}

/// The names of the fields in a request's JSON body, once that is read.
final class GivenFields: Sendable {
    private let names = Mutex<Set<ByteString>>([])

    func add(_ body: JSONValue) {
        guard let object = body.object else { return }
        names.withLock { $0.formUnion(object.keys) }
    }

    func contains(_ name: String) -> Bool { names.withLock { $0.contains(ByteString(name)) } }
}

extension HTTPField.Name {
    static let deprecation = HTTPField.Name("Deprecation") ?? .from
    static let sunset = HTTPField.Name("Sunset") ?? .from
}
