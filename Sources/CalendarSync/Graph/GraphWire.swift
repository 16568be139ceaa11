// SPDX-License-Identifier: Apache-2.0

/// Sends requests to Graph: with a token, within the mailbox's gate, and only to the configured address.
struct GraphWire: Sendable {
    /// The part before `/me/…`, without a trailing slash.
    let base: String
    let http: any ProviderHTTP
    let tokens: any AccessTokens
    let gate: MailboxGate

    /// The maximum size in bytes of a link that is followed.
    static let longestLink = 16_384

    /// Waits for some milliseconds.
    let pause: @Sendable (Int) async -> Void

    /// How often a request that was refused because of too many requests is sent again, and the longest wait for that
    /// in seconds; a longer wait is left to the caller.
    static let patience = 3
    static let longestPause = 10

    /// Waits as a refusal requires; returns false when that is not worth waiting for.
    func waits(for failure: ProviderFailure, round: Int) async -> Bool {
        guard case .throttled(let seconds) = failure.kind, round < Self.patience else { return false }
        let wait = seconds ?? 1 << round
        guard wait <= Self.longestPause else { return false }
        await pause(wait * 1000)
        return true
    }

    /// The preferences for every answer about events.
    static let preferences = "\(always), outlook.body-content-type=\"text\""
    static let htmlPreferences = "\(always), outlook.body-content-type=\"html\""
    private static let always = "IdType=\"ImmutableId\", outlook.timezone=\"UTC\""

    /// Reports whether a link of an answer leads to the configured address: nothing else ever gets a token.
    func trusts(_ link: String) -> Bool {
        guard link.utf8.count <= Self.longestLink, link.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return false }
        let head = "\(base)/"
        guard link.utf8.count > head.utf8.count,
            Substring(link.utf8.prefix(head.utf8.count)).asciiLowercased == head.asciiLowercased
        else { return false }
        let path = Substring(link.utf8.dropFirst(head.utf8.count)).utf8.prefix { $0 != UInt8(ascii: "?") }
        let steps = Substring(path).asciiLowercased.pieces(separatedBy: "/", omittingEmpty: false)
        let isHonest = steps.allSatisfy { step in
            !step.isEmpty && step != "." && step != ".." && !step.utf8.contains(UInt8(ascii: "\\"))
                && !step.utf8.starts(with: "%2e".utf8) && !step.utf8.contains(UInt8(ascii: "#"))
        }
        return isHonest && (steps.first == "me" || steps.first?.hasPrefix("users") == true)
    }

    /// Sends one request below the base, or to a trusted link; any status except 401 is an answer.
    ///
    /// - Parameters:
    ///   - permits: the number of the mailbox's requests for which it counts at a time.
    ///   - calls: the number of requests that it carries.
    func send(
        _ method: String, _ address: String, body: JSONValue? = nil, prefer: String? = GraphWire.preferences,
        permits: Int = 1, calls: Int = 1
    ) async throws(ProviderFailure) -> GraphAnswer {
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if let prefer { headers.append(("Prefer", prefer)) }
        var bytes: [UInt8]?
        if let body {
            headers.append(("Content-Type", "application/json"))
            guard let text = try? body.serialized() else {
                throw ProviderFailure(.refused, "The event has a value that cannot be written.")
            }
            bytes = text
        }
        let url = address.hasPrefix("/") ? base + address : address
        guard trusts(url) || address.hasPrefix("/") else {
            throw ProviderFailure(.malformed, "Microsoft's answer leads to another server.")
        }
        var token = try await tokens.current()
        var mayRenew = true
        var round = 0
        while true {
            let found = try await answer(method, url, headers, bytes, token, permits, calls)
            if found.status == 401 {
                guard mayRenew else { throw found.failure }
                mayRenew = false
                token = try await tokens.renewed(after: token)
            } else if found.status == 429, await waits(for: found.failure, round: round) {
                round += 1
            } else {
                return found
            }
        }
    }

    private func answer(
        _ method: String, _ url: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?, _ token: String,
        _ permits: Int, _ calls: Int
    ) async throws(ProviderFailure) -> GraphAnswer {
        var request = ProviderRequest(
            method, url, headers: headers + [("Authorization", "Bearer \(token)")], body: body)
        request.calls = calls
        let sent = request
        let raw = try await gate.with(permits) { () async throws(ProviderFailure) in
            do throws(TransportFailure) {
                return try await http.send(sent)
            } catch {
                switch error {
                case .neverSent: throw ProviderFailure(.unreachable, "Microsoft could not be reached.")
                case .unanswered: throw ProviderFailure(.unanswered, "Microsoft did not answer.")
                case .tooLong: throw ProviderFailure(.malformed, "Microsoft's answer is too long.")
                case .ended(let failure): throw failure
                }
            }
        }
        return try await http.read(raw) { raw throws(ProviderFailure) in try GraphAnswer(raw) }
    }
}
