// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Sends the requests of one account: it handles credentials, redirects, and the failures that answers mean.
struct DAVSession: Sendable {
    /// A request before it has an address and credentials.
    struct Request: Sendable {
        var method: String
        var depth: String?
        var headers: [(name: String, value: String)] = []
        var body: [UInt8]?
        var longestAnswer = 1 << 20

        static func propfind(_ depth: String, _ properties: [String]) -> Request {
            Request(method: "PROPFIND", depth: depth, body: DAVBody.propfind(properties), longestAnswer: 16 << 20)
        }

        static func report(_ depth: String, _ body: [UInt8]) -> Request {
            Request(method: "REPORT", depth: depth, body: body, longestAnswer: 16 << 20)
        }
    }

    let http: any ProviderHTTP
    let clock: @Sendable () -> Int
    /// The address that the person gave for the account, and the hosts that belong to it.
    let realm: DAVRealm
    private let authorization: String

    /// - Throws: `refused` for a name or password that Basic cannot carry (RFC 7617 section 2).
    init(
        realm: DAVRealm, username: String, password: String, http: any ProviderHTTP,
        clock: @escaping @Sendable () -> Int
    ) throws(ProviderFailure) {
        let isPlain = (username + password).utf8.allSatisfy { $0 >= 32 && $0 != 127 }
        guard isPlain, !username.isEmpty, !username.utf8.contains(58), username.utf8.count <= 512,
            password.utf8.count <= 1024
        else {
            throw ProviderFailure(.refused, "The user name or password has characters that cannot be sent.")
        }
        self.realm = realm
        self.http = http
        self.clock = clock
        authorization = "Basic " + Self.base64(Array("\(username):\(password)".utf8))
    }

    /// Encodes in base64 (RFC 4648 section 4), by way of the URL alphabet.
    static func base64(_ bytes: [UInt8]) -> String {
        var text = Base64URL.encode(bytes).utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(fromOutside: text)
    }

    /// The maximum number of redirects of one request.
    private static let redirectLimit = 5

    /// Sends a request and follows redirects with the same method and body, within the account's hosts.
    ///
    /// - Returns: the answer, whatever its status except 401, and the address that gave it.
    func send(
        _ request: Request, to first: DAVAddress
    ) async throws(ProviderFailure) -> (answer: ProviderAnswer, address: DAVAddress) {
        var address = first
        for _ in 0...Self.redirectLimit {
            guard realm.allows(address) else {
                throw ProviderFailure(
                    .refused, "The server leads to another host. If that host is right, connect with its address.",
                    code: "other-host")
            }
            guard address.isSecure || address.isLoopback else {
                throw ProviderFailure(
                    .refused, "A password is sent only over https.", code: "https-required")
            }
            let answer = try await once(request, address)
            switch answer.status {
            case 401:
                throw ProviderFailure(
                    .unauthorized, "The server does not accept the user name and password. It may want an app password."
                )
            case 301, 302, 307, 308:
                guard let location = answer.field("Location"),
                    let next = DAVAddress(location, relativeTo: address)
                else { throw ProviderFailure(.malformed, "The server redirects to an address that cannot be read.") }
                address = next
            default: return (answer, address)
            }
        }
        throw ProviderFailure(.malformed, "The server redirects endlessly.")
    }

    private func once(_ request: Request, _ address: DAVAddress) async throws(ProviderFailure) -> ProviderAnswer {
        var headers = request.headers
        headers.append(("Authorization", authorization))
        headers.append(("Accept", "*/*"))
        if let depth = request.depth { headers.append(("Depth", depth)) }
        if request.body != nil, !headers.contains(where: { $0.name == "Content-Type" }) {
            headers.append(("Content-Type", "application/xml; charset=utf-8"))
        }
        let sent = ProviderRequest(
            request.method, address.text, headers: headers, body: request.body, longestAnswer: request.longestAnswer)
        do throws(TransportFailure) {
            return try await http.send(sent)
        } catch {
            switch error {
            case .neverSent: throw ProviderFailure(.unreachable, "The calendar server cannot be reached.")
            case .unanswered: throw ProviderFailure(.unanswered, "The calendar server did not answer.")
            case .tooLong:
                throw ProviderFailure(.malformed, "The calendar server's answer is too long.", code: Self.tooLong)
            case .ended(let failure): throw failure
            }
        }
    }

    /// The code of an answer that was longer than the request allowed.
    static let tooLong = "answer-too-long"

    /// Returns what a multistatus means; throws the failure that any other answer means.
    ///
    /// - Parameter read: makes a value of the multistatus from an address. It may have many responses, so this runs where
    ///   the document is read, and no request waits for it.
    func multistatus<Value: Sendable>(
        _ request: Request, at address: DAVAddress,
        _ read: @escaping @Sendable (Multistatus, DAVAddress) throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        let (answer, found) = try await send(request, to: address)
        guard answer.status == 207 else { throw failure(answer) }
        return try await multistatus(answer) { multistatus throws(ProviderFailure) in try read(multistatus, found) }
    }

    func multistatus<Value: Sendable>(
        _ answer: ProviderAnswer, _ read: @escaping @Sendable (Multistatus) throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        try await http.read(answer) { answer throws(ProviderFailure) in try read(try Multistatus(answer)) }
    }
}

// MARK: - Failures

extension DAVSession {
    /// Returns the failure that an unexpected answer means.
    func failure(_ answer: ProviderAnswer) -> ProviderFailure {
        let condition = DAVCondition(answer.body)
        switch (answer.status, condition?.name) {
        case (_, "quota-not-exceeded"?), (_, "sufficient-disk-space"?), (507, _):
            return ProviderFailure(.quotaExceeded, "The calendar server has no room left.", code: condition?.name)
        case (403, nil), (_, "need-privileges"?):
            return ProviderFailure(.forbidden, "The account may not do that in this calendar.", code: condition?.name)
        case (404, _), (410, _):
            return ProviderFailure(.calendarMissing, "The server has no such calendar.")
        case (429, _):
            return ProviderFailure(
                .throttled(retryAfter: retryAfter(answer)), "The calendar server has had too many requests.")
        case (423, _), (500..., _):
            return ProviderFailure(
                .unavailable(retryAfter: retryAfter(answer)), "The calendar server cannot answer now.",
                code: "http-\(answer.status)")
        case (200..<300, _):
            return ProviderFailure(
                .malformed, "The server's answer is not that of a calendar server.", code: "http-\(answer.status)")
        default:
            return ProviderFailure(
                .refused, "The calendar server refuses the request.", code: condition?.name ?? "http-\(answer.status)")
        }
    }

    /// Returns the seconds of a Retry-After field, at most a day (RFC 9110 section 10.2.3).
    private func retryAfter(_ answer: ProviderAnswer) -> Int? {
        guard let text = answer.field("Retry-After") else { return nil }
        let day = 86_400
        if let seconds = Int(text), seconds >= 0 { return min(seconds, day) }
        guard let then = Instant(httpDate: text) else { return nil }
        let now =
            answer.field("Date").flatMap(Instant.init(httpDate:)) ?? Instant(seconds: clock().floorDivided(by: 1000))
        return min(max(then.seconds - now.seconds, 0), day)
    }
}

extension Instant {
    /// Reads an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
    package init?(httpDate text: String) {
        let parts = text.utf8.split(separator: 32).map { String(fromOutside: Array($0)) }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), let year = Int(parts[3]),
            let month = months.firstIndex(where: { $0 == parts[2] })
        else { return nil }
        let time = parts[4].utf8.split(separator: 58).compactMap { Int(String(fromOutside: Array($0))) }
        guard time.count == 3, let date = CivilDate(year: year, month: month + 1, day: day),
            let wall = CivilDateTime(date: date, hour: time[0], minute: time[1], second: time[2])
        else { return nil }
        self.init(utc: wall)
    }
}
