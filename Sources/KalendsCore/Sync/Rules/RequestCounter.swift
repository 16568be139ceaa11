// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage
import Synchronization

/// The connection and account that a request to a provider belongs to.
struct RequestSource: Hashable, Sendable {
    var provider: Connection.Provider
    /// The connection's id; empty before an account is connected.
    var connection: ByteString = ""
    /// The account as the provider names it.
    var account: ByteString?
    /// The shard in which the connection's runs are.
    var shard = 0

    init(_ provider: Connection.Provider) { self.provider = provider }

    init(_ own: Connection) {
        (provider, connection, account) = (own.provider, ByteString(own.id), own.accountID.map { ByteString($0) })
        shard = Shards.number(of: own.userID)
    }
}

/// Counts the requests that leave for providers, and holds back those of an account that is near its provider's limit.
///
/// The counts of a connection's requests wait here until its run is stored, or for a minute, so that no request costs a write
/// of its own.
final class RequestCounter: Sendable {
    enum Kind: String, Hashable, Sendable { case read, write, push, token }

    enum Outcome: String, Hashable, Sendable { case success, limited, refused, failed, unanswered }

    /// The properties that the metrics distinguish.
    private struct Series: Hashable {
        var provider: Connection.Provider
        var kind: Kind
        var outcome: Outcome
    }

    /// The requests of one account within the last seconds, oldest first.
    private struct Window {
        var sent: [(at: ContinuousClock.Instant, calls: Int)] = []
        var sum = 0

        mutating func forget(before time: ContinuousClock.Instant) {
            let old = sent.prefix { $0.at <= time }
            sum -= old.reduce(0) { $0 + $1.calls }
            sent.removeFirst(old.count)
        }
    }

    private struct State {
        var totals: [Series: Int] = [:]
        var pending: [RequestSource: RequestCounts] = [:]
        var windows: [RequestSource: Window] = [:]
        /// At how many windows those without a request in their span are removed next.
        var sweepAt = RequestCounter.mostWindows
        /// The shards whose runs this server does.
        var shards = Shards.all
    }

    /// The maximum number of requests of one account, and within how many seconds: nine tenths of what the provider allows.
    static func limit(_ provider: Connection.Provider) -> (calls: Int, seconds: Int)? {
        switch provider {
        case .google: (540, 60)
        case .outlook: (9_000, 600)
        case .caldav, .apple: nil
        }
    }

    /// The limit of an account at this server.
    ///
    /// If there are several servers, the one that does a connection's runs has eight tenths of what the provider allows.
    /// People's requests arrive at any of them: the others share one tenth by their shards, so that all together stay below it.
    func limit(_ source: RequestSource) -> (calls: Int, seconds: Int)? {
        guard let (calls, seconds) = Self.limit(source.provider) else { return nil }
        let shards = state.withLock { $0.shards }
        if shards == .all { return (calls, seconds) }
        let tenth = calls / 9
        let isHome = shards.contains(source.shard)
        return (isHome ? 8 * tenth : max(1, tenth * shards.numbers.count / Shards.count), seconds)
    }

    /// Notes which shards of the work this server has.
    func note(_ shards: Shards) { state.withLock { $0.shards = shards } }

    /// How long a request waits for its account's limit; what would wait for longer ends its run.
    private static let patience = Duration.seconds(60)
    private static let mostWindows = 10_000

    private let state = Mutex(State())

    // MARK: The limit of an account

    /// Waits until an account may send this many more requests, and notes them.
    func enter(_ source: RequestSource, calls: Int) async throws(TransportFailure) {
        guard source.account != nil, let limit = limit(source) else { return }
        while let wait = wait(source, calls, limit, now: .now) {
            guard wait <= Self.patience else {
                throw .ended(
                    ProviderFailure(
                        .busy(retryAfter: Int(wait.components.seconds) + 1),
                        "The account has sent nearly as many requests as its provider allows.", code: "account-limit"))
            }
            do {
                try await Task.sleep(for: wait)
            } catch {
                throw .neverSent("The run was ended while its account had to wait.")
            }
        }
    }

    /// Notes requests of an account; returns how long they have to wait instead, if there is no room for them.
    func wait(
        _ source: RequestSource, _ calls: Int, _ limit: (calls: Int, seconds: Int), now: ContinuousClock.Instant
    ) -> Duration? {
        var source = source
        // All connections of an account share its limit, whose ever they are.
        (source.connection, source.shard) = ("", 0)
        let start = now - .seconds(limit.seconds)
        return state.withLock { state in
            if state.windows.count >= state.sweepAt {
                // Each provider has a span of its own.
                state.windows = state.windows.filter { other, window in
                    let span = Duration.seconds(Self.limit(other.provider)?.seconds ?? 0)
                    return window.sent.last.map { $0.at > now - span } ?? false
                }
                // Where many are in use, not each further request looks at all of them.
                state.sweepAt = max(Self.mostWindows, 2 * state.windows.count)
            }
            var window = state.windows[source] ?? Window()
            window.forget(before: start)
            defer { state.windows[source] = window.sent.isEmpty ? nil : window }
            var over = window.sum + calls - limit.calls
            guard over > 0, !window.sent.isEmpty else {
                window.sent.append((now, calls))
                window.sum += calls
                return nil
            }
            for (at, calls) in window.sent {
                over -= calls
                if over <= 0 { return max(at - start, .milliseconds(1)) }
            }
            return window.sent.last.map { max($0.at - start, .milliseconds(1)) }
        }
    }

    // MARK: Counting

    func count(_ source: RequestSource, _ request: ProviderRequest, _ kind: Kind?, _ outcome: Outcome) {
        let series = Series(provider: source.provider, kind: kind ?? request.kind, outcome: outcome)
        state.withLock { state in
            state.totals[series, default: 0] += request.calls
            // Tokens are not part of what a provider counts for its calendars.
            guard series.kind != .token else { return }
            state.pending[source, default: RequestCounts()].requests += request.calls
            // Which calls of a batch succeeded is not known here: all count, so that there are never too few.
            if outcome == .success { state.pending[source, default: RequestCounts()].successes += request.calls }
        }
    }

    /// Takes what a connection has sent and that is not stored yet.
    func take(_ own: Connection) -> RequestCounts {
        state.withLock { $0.pending.removeValue(forKey: RequestSource(own)) ?? RequestCounts() }
    }

    /// Takes everything that is not stored yet.
    func takeAll() -> [RequestSource: RequestCounts] {
        state.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
    }

    /// Gives back what could not be stored.
    func giveBack(_ counts: [RequestSource: RequestCounts]) {
        state.withLock { $0.pending.merge(counts, uniquingKeysWith: +) }
    }

    /// The samples of the metric by provider, kind and outcome, in order.
    var samples: [(labels: String, value: Int)] {
        state.withLock { $0.totals }
            .map { series, count in
                (
                    "{provider=\"\(series.provider.rawValue)\",kind=\"\(series.kind.rawValue)\","
                        + "outcome=\"\(series.outcome.rawValue)\"}", count
                )
            }.sorted { $0.0 < $1.0 }
    }
}

/// A way to a provider on which each request is counted; all requests of connections take one.
struct CountedLine: ProviderLine, ProviderHTTP {
    let line: any ProviderLine
    let counter: RequestCounter
    let source: RequestSource
    /// Nil if the requests say it themselves.
    var kind: RequestCounter.Kind?

    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        try await send(request) { _ in true }
    }

    func send(
        _ request: ProviderRequest, admit: @escaping @Sendable (Int) async -> Bool
    ) async throws(TransportFailure) -> ProviderAnswer {
        try await counter.enter(source, calls: request.calls)
        do throws(TransportFailure) {
            let answer = try await line.send(request, admit: admit)
            counter.count(source, request, kind, RequestCounter.Outcome(status: answer.status))
            return answer
        } catch {
            if case .neverSent = error { throw error }
            counter.count(source, request, kind, .unanswered)
            throw error
        }
    }
}

extension RequestCounter.Outcome {
    fileprivate init(status: Int) {
        self =
            switch status {
            case ..<300: .success
            case 429: .limited
            case ..<500: .refused
            default: .failed
            }
    }
}

extension ProviderRequest {
    fileprivate var kind: RequestCounter.Kind {
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") }
        func ends(_ text: String) -> Bool { path.suffix(text.utf8.count).elementsEqual(text.utf8) }
        if ends("/watch") || ends("/channels/stop") || url.parted(at: "/subscriptions") != nil { return .push }
        return isSafe ? .read : .write
    }
}
