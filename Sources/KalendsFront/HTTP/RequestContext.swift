// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
import KalendsCore
import Logging
import NIOCore

/// What belongs to one request besides the request itself.
package struct KalendsContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// Who calls; set by the authentication of the routes that need it.
    var knownCaller: Caller?
    /// The session that the caller came with, if it was one.
    var session: PresentedSession?
    /// What the request holds of the server's memory.
    var memory: RequestMemory
    /// The address at the other end of the connection, nil for a call within the process.
    let remoteAddress: SocketAddress?
    /// Who is charged for what the request uses; narrower once the caller is known.
    var sender = Sender.unknown
    let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        memory = RequestMemory(.unlimited)
        channel = source.channel
        remoteAddress = source.channel.remoteAddress
    }
}

extension KalendsContext {
    /// A part of the path, percent-decoded; nil when that gives no text.
    func parameter(_ name: String) -> String? { parameters.get(name).flatMap { percentDecoded($0) } }

    /// A part of the path that is an id; anything that cannot be one names nothing.
    ///
    /// - Parameter resource: what the part names, if the collection before it does not say so.
    func identifier(_ name: String, of resource: Refusal.Resource? = nil) throws -> String {
        guard let text = parameter(name), Identifier.isValid(text) else {
            throw (resource ?? endpointPath.flatMap { Refusal.Resource(named: name, in: $0) }).map(Refusal.missing)
                ?? .noSuchPath
        }
        return text
    }

    /// A part of the path that a PUT makes an id of.
    func newIdentifier(_ name: String) throws -> String {
        guard let text = parameter(name), Identifier.isValid(text) else {
            throw Refusal.badRequest(Identifier.rule, code: .invalidID)
        }
        return text
    }

    /// Who calls; throws 401 when nobody is known.
    func caller() throws -> Caller {
        guard let knownCaller else { throw Refusal.unauthenticated }
        return knownCaller
    }
}

/// Text with `%XX` decoded (RFC 3986 section 2.1), nil when that gives no UTF-8.
func percentDecoded(_ text: String) -> String? {
    guard text.utf8.contains(37) else { return text }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        guard byte == 37 else {
            bytes.append(byte)
            continue
        }
        guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
            return nil
        }
        bytes.append(value)
        rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
}
