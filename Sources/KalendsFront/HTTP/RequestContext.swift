// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
package import Hummingbird
package import KalendsCore
import Logging
package import NIOCore
import Storage

/// The state of one request besides the request itself.
package struct KalendsContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The caller; set by the authentication of the routes that need one.
    var knownCaller: Caller?
    /// The session that the caller authenticated with, if any.
    var session: PresentedSession?
    /// The scopes to which a user's token is limited; nil for everything.
    var tokenScopes: Set<Scope>?
    /// The service key that the caller authenticated with, if any.
    var serviceKey: ServiceKey?
    /// Where the request's line in the log gets the caller from.
    package var note: CallerNote?
    /// The request's share of the server's memory.
    package var memory: RequestMemory
    /// Where the request's body is counted while it arrives; nil for a call that did not come through the router.
    var intake: Intake?
    /// The address at the other end of the connection; nil for a call within the process.
    package let remoteAddress: SocketAddress?
    /// The sender whom the request's resources are counted for; more specific once the caller is known.
    package var sender = Sender.unknown
    /// Where the names of the body's fields are noted, for an operation that has a deprecated part.
    var givenFields: GivenFields?
    /// Checks again what let the request in; throws what a new request with its credential would.
    var readmit: @Sendable () async throws -> Void = {}
    /// The request as one that takes effect once; nil for a request without a key.
    var once: OnceRequest?
    /// The import that an earlier request with the same key began, whose report is the answer.
    var begunImport: String?
    package let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        memory = RequestMemory(.unlimited)
        channel = source.channel
        remoteAddress = source.channel.remoteAddress
    }

    /// The stream in which the request's body arrives.
    ///
    /// - Parameter length: the length that the request states, if any.
    func arrivingBody(length: Int? = nil) throws -> ArrivingBody {
        guard let intake else { preconditionFailure("A body is read behind the router's middleware.") }
        return try ArrivingBody(intake, from: sender, length: length)
    }

    /// A percent-decoded part of the path; nil when it is not valid text.
    func parameter(_ name: String) -> String? { parameters.get(name).flatMap { percentDecoded($0) } }

    /// A part of the path that is an id; throws 404 for text that cannot be an id.
    ///
    /// - Parameter resource: the kind of resource, if the preceding collection does not determine it.
    func identifier(_ name: String, of resource: Refusal.Resource? = nil) throws -> String {
        guard let text = parameter(name), Identifier.isValid(text) else {
            throw (resource ?? endpointPath.flatMap { Refusal.Resource(named: name, in: $0) }).map(Refusal.missing)
                ?? .noSuchPath
        }
        return text
    }

    /// A part of the path from which a PUT makes an id; throws 400 for text that cannot be an id.
    func newIdentifier(_ name: String) throws -> String {
        guard let text = parameter(name), Identifier.isValid(text) else {
            throw Refusal.badRequest(Identifier.rule, code: .invalidID)
        }
        return text
    }

    /// The caller; throws 401 when the request has none.
    func caller() throws -> Caller {
        guard let knownCaller else { throw Refusal.unauthenticated }
        return knownCaller
    }
}

/// Decodes `%XX` in a text (RFC 3986 section 2.1); nil when the result is not UTF-8.
func percentDecoded(_ text: String) -> String? {
    guard text.utf8.contains(37) else { return text }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        guard byte == 37 else {
            bytes.append(byte)
            continue
        }
        guard rest.count >= 2, let value = UInt8(String(fromOutside: rest.prefix(2)), radix: 16) else {
            return nil
        }
        bytes.append(value)
        rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)?.fromOutside
}
