// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import Glibc
import Synchronization

/// Sends requests to servers on this machine, with one connection each; nothing is sent twice, and no redirect
/// followed.
final class LoopbackHTTP: ProviderHTTP {
    /// The part of a sent request that tests read.
    struct Sent: Sendable {
        var method: String
        var path: String
        var status: Int?
    }

    private let state = Mutex<(sent: [Sent], running: Int, most: Int)>(([], 0, 0))
    /// Adds fields to a request before it is sent, such as the request for a fault.
    private let decorate: @Sendable (ProviderRequest) -> [(name: String, value: String)]
    private let seconds: Int

    init(
        seconds: Int = 120,
        decorate: @escaping @Sendable (ProviderRequest) -> [(name: String, value: String)] = { _ in [] }
    ) {
        self.seconds = seconds
        self.decorate = decorate
    }

    var sent: [Sent] { state.withLock { $0.sent } }
    /// The maximum number of requests that were under way at once.
    var most: Int { state.withLock { $0.most } }

    /// Returns the requests that were sent, and clears the list.
    @discardableResult func takeSent() -> [Sent] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }

    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        state.withLock { state in
            state.running += 1
            state.most = max(state.most, state.running)
        }
        let fields = decorate(request)
        let result: Result<ProviderAnswer, TransportFailure> = await withCheckedContinuation { continuation in
            // Blocking calls have a thread of their own, not one of the few that run tasks.
            Thread.detachNewThread { [seconds] in
                continuation.resume(returning: Exchange(request, fields, seconds: seconds).result())
            }
        }
        let path = URLComponents(string: request.url)?.percentEncodedPath ?? ""
        state.withLock { state in
            state.running -= 1
            state.sent.append(Sent(method: request.method, path: path, status: (try? result.get())?.status))
        }
        return try result.get()
    }
}

/// Sends requests, and has a person make one edit right after the answer to the first request of a kind.
final class MeddlingHTTP: ProviderHTTP {
    private let http: any ProviderHTTP
    private let method: String
    private let edit: @Sendable () async throws -> Void
    private let isDone = Mutex(false)

    init(_ http: any ProviderHTTP, after method: String, edit: @escaping @Sendable () async throws -> Void) {
        (self.http, self.method, self.edit) = (http, method, edit)
    }

    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        let answer = try await http.send(request)
        let isNow = isDone.withLock { isDone in
            guard request.method == method, !isDone else { return false }
            isDone = true
            return true
        }
        if isNow { do { try await edit() } catch { throw .unanswered("The edit failed: \(error)") } }
        return answer
    }
}

/// One request over one connection.
private struct Exchange {
    private let request: ProviderRequest
    private let fields: [(name: String, value: String)]
    private let seconds: Int

    init(_ request: ProviderRequest, _ fields: [(name: String, value: String)], seconds: Int) {
        (self.request, self.fields, self.seconds) = (request, fields, seconds)
    }

    func result() -> Result<ProviderAnswer, TransportFailure> {
        guard let url = URLComponents(string: request.url), url.scheme == "http",
            ["127.0.0.1", "localhost"].contains(url.host), let port = url.port
        else { return .failure(.neverSent("It is no address of this machine.")) }
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        guard socket >= 0, connect(socket, UInt16(port)) else { return .failure(.neverSent("Nobody listens.")) }
        guard write(head(url) + (request.body ?? []), to: socket) else { return .failure(.unanswered("It broke off.")) }
        return read(socket)
    }

    private func head(_ url: URLComponents) -> [UInt8] {
        let target = url.percentEncodedPath + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
        var lines = ["\(request.method) \(target.isEmpty ? "/" : target) HTTP/1.1", "Connection: close"]
        lines.append("Host: \(url.host ?? ""):\(url.port ?? 0)")
        lines += (request.headers + fields).map { "\($0.name): \($0.value)" }
        if let body = request.body { lines.append("Content-Length: \(body.count)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func connect(_ socket: Int32, _ port: UInt16) -> Bool {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The call reads the address and the limit while it runs, and keeps neither.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe setsockopt(
                socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            return unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(socket, $0, size) == 0
            }
        }
    }

    private func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                // The bytes are those of the slice, for the length of the call.
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Reads to the end of the connection; the request asked the server to close it.
    private func read(_ socket: Int32) -> Result<ProviderAnswer, TransportFailure> {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            // The buffer has room for as many bytes as are asked for.
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            if count < 0 { return .failure(.unanswered("No answer in time.")) }
            if count == 0 { break }
            bytes += buffer[..<count]
            if bytes.count > request.longestAnswer + 65_536 { return .failure(.tooLong) }
        }
        guard let answer = Self.answer(bytes) else { return .failure(.unanswered("The answer broke off.")) }
        return answer.body.count > request.longestAnswer ? .failure(.tooLong) : .success(answer)
    }

    private static func answer(_ bytes: [UInt8]) -> ProviderAnswer? {
        let mark: [UInt8] = [13, 10, 13, 10]
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let sides = line.split(separator: ":", maxSplits: 1)
            return sides.count == 2 ? (String(sides[0]), sides[1].trimmingCharacters(in: .whitespaces)) : nil
        }
        var answer = ProviderAnswer(status: status, headers: headers, body: Array(bytes[(end + 4)...]))
        if answer.field("Transfer-Encoding")?.lowercased() == "chunked" {
            guard let whole = unchunked(answer.body) else { return nil }
            answer.body = whole
        } else if let length = answer.field("Content-Length").flatMap({ Int($0) }) {
            guard answer.body.count >= length || [204, 304].contains(status) else { return nil }
            answer.body = Array(answer.body.prefix(length))
        }
        return answer
    }

    /// Joins the chunks of a body (RFC 9112 section 7.1); nil when the last chunk is missing.
    private static func unchunked(_ bytes: [UInt8]) -> [UInt8]? {
        var out: [UInt8] = []
        var index = 0
        while let end = bytes[index...].firstIndex(of: 13) {
            let size = String(decoding: bytes[index..<end], as: UTF8.self).split(separator: ";").first ?? ""
            guard let count = Int(size, radix: 16), end + 2 + count <= bytes.count else { return nil }
            if count == 0 { return out }
            out += bytes[(end + 2)..<(end + 2 + count)]
            index = end + 4 + count
            guard index < bytes.count else { return nil }
        }
        return nil
    }
}
