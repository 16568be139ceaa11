// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Outbound
import Synchronization

/// A way to providers' servers.
protocol ProviderLine: Sendable {
    /// Sends a request.
    ///
    /// - Parameter admit: is given the number of bytes of the answer's body so far before they are kept; if it returns
    ///   false, the answer counts as too long.
    func send(
        _ request: ProviderRequest, admit: @escaping @Sendable (Int) async -> Bool
    ) async throws(TransportFailure) -> ProviderAnswer
}

/// HTTP to providers whose addresses come from the operator's settings.
struct SettingsHTTP: ProviderHTTP, ProviderLine {
    /// Sends a request whose answer is short, such as one for a token.
    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        try await send(request) { _ in true }
    }

    func send(
        _ request: ProviderRequest, admit: @escaping @Sendable (Int) async -> Bool
    ) async throws(TransportFailure) -> ProviderAnswer {
        do throws(ExchangeFailure) {
            let answer = try await ExchangeClient().send(
                request.method, request.url, headers: request.headers, body: request.body,
                longest: request.longestAnswer, admit: admit)
            return ProviderAnswer(status: answer.status, headers: answer.headers, body: answer.body)
        } catch {
            throw TransportFailure(error)
        }
    }
}

extension TransportFailure {
    fileprivate init(_ failure: ExchangeFailure) {
        switch failure {
        case .neverSent(let message): self = .neverSent(message)
        case .unanswered(let message): self = .unanswered(message)
        case .tooLong: self = .tooLong
        }
    }
}

/// HTTP to servers whose addresses people give: only on the public Internet, except for hosts that the operator named.
///
/// Every request's host is looked up once, all of its addresses are checked, and the connection goes to one of exactly
/// these addresses. A connection that is kept open is used only for requests to this address with the same password.
struct AccountHTTP: ProviderLine {
    let rules: DestinationRules
    /// Each entry is `host`, for all of its ports, or `host:port`.
    let privateHosts: Set<ByteString>
    /// Whoever named the hosts.
    let asker: ByteString

    /// The maximum number of addresses of one host that are tried.
    private static let tries = 3
    /// From the look-up to the end of the answer, so that a server that sends a byte now and then cannot hold up a run
    /// for long.
    private static let deadline = Duration.seconds(60)

    func send(
        _ request: ProviderRequest, admit: @escaping @Sendable (Int) async -> Bool
    ) async throws(TransportFailure) -> ProviderAnswer {
        if isPrivate(request.url) { return try await SettingsHTTP().send(request, admit: admit) }
        do {
            guard let answer = try await within(Self.deadline, { try await guarded(request, admit) }) else {
                throw TransportFailure.unanswered("The host did not answer in time.")
            }
            return answer
        } catch let failure as TransportFailure {
            throw failure
        } catch let failure as OutboundFailure {
            switch failure.kind {
            case .address, .unreachable, .untrusted: throw .neverSent(failure.message)
            case .tooLarge: throw .tooLong
            default: throw .unanswered(failure.message)
            }
        } catch {
            throw .unanswered("The host did not answer.")
        }
    }

    private func guarded(
        _ request: ProviderRequest, _ admit: @escaping @Sendable (Int) async -> Bool
    ) async throws -> ProviderAnswer {
        let url = try PublicURL(request.url, allowsHTTP: false)
        let limit = request.longestAnswer
        var failure = OutboundFailure.notPublic
        for address in try await rules.addresses(of: url.host, for: asker).prefix(Self.tries) {
            let sent = OutboundRequest(
                method: request.method, url: url, address: address, headers: request.headers, body: request.body,
                keepsConnection: true)
            do {
                let (answer, sink) = try await rules.transport.send(sent) { _ in BoundedSink(limit: limit, admit) }
                return ProviderAnswer(status: answer.status, headers: answer.headers, body: sink?.bytes ?? [])
            } catch let error as OutboundFailure where error.kind == .unreachable {
                failure = error
            }
        }
        throw failure
    }

    private func isPrivate(_ address: String) -> Bool {
        guard let origin = WebOrigin(ofAddress: address) else { return false }
        return privateHosts.contains(origin.host) || privateHosts.contains("\(origin.host):\(origin.port)")
    }
}

extension AccountHTTP: ProviderHTTP {
    /// Sends a request whose answer is short, such as one for a token.
    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        try await send(request) { _ in true }
    }
}

/// Keeps an answer's body up to a limit.
private final class BoundedSink: AnswerSink {
    private let limit: Int
    private let admit: @Sendable (Int) async -> Bool
    private let kept = Mutex<[UInt8]>([])

    init(limit: Int, _ admit: @escaping @Sendable (Int) async -> Bool) { (self.limit, self.admit) = (limit, admit) }

    var bytes: [UInt8] { kept.withLock { $0 } }

    /// Keeps a part of the body; throws `OutboundFailure` beyond the limit.
    func take(_ part: [UInt8]) async throws {
        let count = kept.withLock { $0.count } + part.count
        guard count <= limit, await admit(count) else { throw OutboundFailure.tooLarge(limit: limit) }
        kept.withLock { $0 += part }
    }
}
