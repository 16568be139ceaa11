// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import Glibc
import Synchronization

/// Milliseconds since 1970.
@Sendable func systemMilliseconds() -> Int { Int(Date().timeIntervalSince1970 * 1000) }

/// Sends requests to a server on this machine and counts them. Each has its own connection: Radicale and others close
/// it anyway.
final class LoopbackClient: ProviderHTTP {
    private let sent = Atomic(0)

    var count: Int { sent.load(ordering: .relaxed) }

    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        sent.add(1, ordering: .relaxed)
        let result: Result<ProviderAnswer, TransportFailure> = await withCheckedContinuation { continuation in
            // Blocking calls have a thread of their own, not one of the few that run tasks.
            Thread.detachNewThread { continuation.resume(returning: Exchange(request, [], seconds: 60).result()) }
        }
        return try result.get()
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
            // The buffer has room for as many bytes as the call may write.
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
        let delimiter: [UInt8] = [13, 10, 13, 10]
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: delimiter) }) else { return nil }
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
