// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import NIOHTTP1

/// The parts of a request that a feed's answer depends on, except the token and the caller's address.
struct FeedRequest: Hashable, Sendable {
    var isHead: Bool
    var ifNoneMatch: [String] = []
    var ifModifiedSince: String?
    var accept: [String] = []
    var acceptEncoding: [String] = []
    var userAgent: String?
    var forwardedFor: [String] = []
    /// Whether a person's browser asks, and no program that is known to read calendars.
    var isForPage: Bool {
        let family = ClientFamily(userAgent: userAgent)
        return [.browser, .other].contains(family) && PagePreference.isIn(accept: accept)
    }

    /// The request's id, as the client sent it; the router takes it from the header fields itself.
    var requestID: String?

    /// A request without header fields.
    init(isHead: Bool) { self.isHead = isHead }

    init(_ method: HTTPRequest.Method, _ headers: HTTPFields) {
        isHead = method == .head
        ifNoneMatch = headers[values: .ifNoneMatch]
        ifModifiedSince = headers[.ifModifiedSince]
        accept = headers[values: .accept]
        acceptEncoding = headers[values: .acceptEncoding]
        userAgent = headers[.userAgent]
        forwardedFor = headers[values: .xForwardedFor]
    }

    /// Makes the same from a request as it was read from the connection; nil when anything about it is unusual, so that
    /// it goes through the router.
    init?(_ head: HTTPRequestHead) {
        guard head.method == .GET || head.method == .HEAD, head.version == .http1_1 else { return nil }
        isHead = head.method == .HEAD
        for (name, value) in head.headers {
            let bytes = unsafe name.utf8.span.bytes
            guard take(bytes, 0..<bytes.byteCount, value) else { return nil }
        }
    }

    /// Takes a field, whose name is a part of some bytes; returns false when it makes the request unusual.
    mutating func take(_ bytes: RawSpan, _ name: Range<Int>, _ value: @autoclosure () -> String) -> Bool {
        // The length is compared first: most names are not among these.
        switch name.count {
        case 6 where bytes.isSame(as: "accept", in: name):
            let value = value()
            accept.append(value)
            // A browser gets a page, which the router makes.
            return !PagePreference.isIn(accept: [value])
        case 6 where bytes.isSame(as: "expect", in: name): return false
        case 7 where bytes.isSame(as: "upgrade", in: name): return false
        case 8 where bytes.isSame(as: "if-match", in: name): return false
        case 10 where bytes.isSame(as: "user-agent", in: name):
            guard userAgent == nil else { return false }
            userAgent = value()
        case 10 where bytes.isSame(as: "connection", in: name): return value().isField("keep-alive")
        case 12 where bytes.isSame(as: "x-request-id", in: name):
            guard requestID == nil else { return false }
            requestID = value()
        case 13 where bytes.isSame(as: "if-none-match", in: name): ifNoneMatch.append(value())
        case 14 where bytes.isSame(as: "content-length", in: name): return value().isSameText(as: "0")
        case 15 where bytes.isSame(as: "accept-encoding", in: name): acceptEncoding.append(value())
        case 15 where bytes.isSame(as: "x-forwarded-for", in: name): forwardedFor.append(value())
        case 17 where bytes.isSame(as: "if-modified-since", in: name):
            guard ifModifiedSince == nil else { return false }
            ifModifiedSince = value()
        case 17 where bytes.isSame(as: "transfer-encoding", in: name): return false
        case 19 where bytes.isSame(as: "if-unmodified-since", in: name): return false
        default: break
        }
        return true
    }
}
