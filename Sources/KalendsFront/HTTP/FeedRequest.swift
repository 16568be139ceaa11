// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import ICalBridge
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
    /// The request's id, as the client sent it; the router takes it from the header fields itself.
    var mark: String?

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
            // The length is compared first: most names are not among these.
            switch name.utf8.count {
            case 6 where name.isField("accept"): accept.append(value)
            case 6 where name.isField("expect"): return nil
            case 7 where name.isField("upgrade"): return nil
            case 8 where name.isField("if-match"): return nil
            case 10 where name.isField("user-agent"):
                guard userAgent == nil else { return nil }
                userAgent = value
            case 10 where name.isField("connection"):
                guard value.isField("keep-alive") else { return nil }
            case 12 where name.isField("x-request-id"):
                guard mark == nil else { return nil }
                mark = value
            case 13 where name.isField("if-none-match"): ifNoneMatch.append(value)
            case 14 where name.isField("content-length"):
                guard value == "0" else { return nil }
            case 15 where name.isField("accept-encoding"): acceptEncoding.append(value)
            case 15 where name.isField("x-forwarded-for"): forwardedFor.append(value)
            case 17 where name.isField("if-modified-since"):
                guard ifModifiedSince == nil else { return nil }
                ifModifiedSince = value
            case 17 where name.isField("transfer-encoding"): return nil
            case 19 where name.isField("if-unmodified-since"): return nil
            default: break
            }
        }
    }
}
