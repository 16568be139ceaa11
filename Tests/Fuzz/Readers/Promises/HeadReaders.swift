// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import HTTPTypes
import Hummingbird
import ICalBridge
import NIOCore

@testable import KalendsCore
@testable import KalendsFront

/// What is read from a request's line and header fields.
extension Reader {
    static let heads = [
        Reader(name: "query", check: query),
        Reader(name: "cookie") { bytes in
            let (request, settings) = (request([.cookie: text(bytes)]), ServerSettings())
            let secrets = [SessionCookie.secret(of: request, settings), OperatorCookie.secret(of: request, settings)]
                .compactMap(\.self)
            for secret in secrets {
                try promise(text(bytes).contains(secret.reveal()), "A secret is as it was sent.")
            }
            if SessionCookie.secret(of: request, settings) != nil {
                try promise(SessionCookie.isSent(with: request, settings), "A cookie that is read was sent.")
            }
        },
        Reader(name: "authorization") { bytes in
            switch Credential(request([.authorization: text(bytes)]), ServerSettings()) {
            case .serviceKey(let secret), .session(let secret, _), .device(let secret):
                try promise(text(bytes).contains(secret.reveal()), "A secret is as it was sent.")
            case .userToken(let token): _ = SignedToken(token)
            case nil: break
            }
        },
        Reader(name: "accept") { bytes in
            let values = text(bytes).split(separator: "\n").map(String.init)
            _ = CalendarForm(accept: values)
            let quality = QualityValue.read(text(bytes))
            try promise(quality.isFinite || quality.isInfinite || quality.isNaN, "A weight is a number.")
            let coding = ContentCoding(acceptEncoding: values, from: .thunderbird)
            if coding == .gzip {
                try promise(text(bytes).lowercased().contains("gzip"), "Only who names gzip gets it.")
            }
            _ = request([.prefer: text(bytes)]).prefersAsync
        },
        Reader(name: "conditions", check: conditions),
        Reader(name: "feed-path") { bytes in
            guard let (route, token) = FeedPath.parse(unsafe bytes.span.bytes) else { return }
            let path = text(bytes)
            try promise(path.contains(token.reveal()), "The token is as it was sent.")
            let other = FeedPath.parse(path)
            try promise(other?.route == route && other?.token == token, "As text it is the same path.")
        },
        Reader(name: "forwarded-for") { bytes in
            var settings = ServerSettings()
            settings.trustedProxies = ["10.0.0.0/8", "::1"].compactMap(AddressRange.init)
            let values = text(bytes).split(separator: "\n").map(String.init)
            let proxy = IPAddress("10.0.0.1")
            let stranger = IPAddress("192.0.2.1")
            try promise(settings.clientAddress(stranger, forwardedFor: values) == stranger, "A stranger is not heard.")
            try promise(settings.clientAddress(proxy, forwardedFor: values) != nil, "There is an address.")
        },
        Reader(name: "target-marks") { bytes in
            let target = text(bytes)
            guard let bounded = RequestTarget.withBoundedMarks(target) else { return }
            try promise(bounded.utf8.count < target.utf8.count, "Something is left out.")
            try promise(RequestTarget.withBoundedMarks(bounded) == nil, "And only once.")
            try promise(!(bounded.removingPercentEncoding ?? "").hasLongRunOfMarks, "No run is too long when decoded.")
        },
    ]

    static func request(_ fields: HTTPFields, path: String = "/v1/circles") -> Request {
        Request(
            head: HTTPRequest(
                method: .get, scheme: "https", authority: "kalends.example", path: path, headerFields: fields),
            body: RequestBody(buffer: ByteBuffer()))
    }

    /// Reads pages and parameters, and refuses a query only with a sentence.
    private static func query(_ bytes: [UInt8]) throws {
        let room = RequestMemory(.unlimited).answer
        // Other characters do not come this far: the parser refuses them.
        let plain = bytes.filter { $0 > 32 && $0 != 127 && $0 != 35 }
        let request = request([:], path: "/v1/circles?" + text(plain))
        do {
            try request.checkQuery(known: ["cursor", "limit", "from"])
            let page = try Page(request, room: room)
            try promise((1...1000).contains(page.limit), "A page has a limit.")
            if !page.after.isEmpty {
                let cursor = Page.cursor(page.after)
                let again = try Page(Self.request([:], path: "/v1/circles?cursor=\(cursor)"), room: room)
                try promise(again.after.utf8.elementsEqual(page.after.utf8), "A cursor is read back.")
            }
            _ = try page.number
        } catch let refusal as Refusal {
            try promise(!refusal.detail.isEmpty || !refusal.faults.isEmpty, "There is a reason.")
        }
        // The names of parameters are those that Foundation finds, where it finds an address at all.
        let key = text(bytes.filter { $0 >= 32 }).fromOutside
        let page = try? Page(Self.request([:], path: "/v1/circles?cursor=\(Page.cursor(key))"), room: room)
        try promise(page?.after.utf8.elementsEqual(key.utf8) == true, "Each key has a cursor.")
    }

    private static func conditions(_ bytes: [UInt8]) throws {
        let parts = text(bytes).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let validators = Validators(etag: "\"0123456789abcdef\"", lastModified: Instant(seconds: 1_772_452_800))
        let tags = Array(parts.dropFirst())
        let isSame = ConditionalGet.isNotModified(ifNoneMatch: tags, ifModifiedSince: parts[0], validators)
        if isSame, !tags.isEmpty {
            let names = tags.contains { $0.contains("0123456789abcdef") || $0.contains("*") }
            try promise(names, "304 only for the tag, or for any.")
        }
        var fields = HTTPFields()
        for tag in tags { fields.append(HTTPField(name: .ifMatch, value: tag)) }
        do {
            try ConditionalGet.checkPreconditions(fields, etag: validators.etag)
            let names =
                fields.isEmpty || fields.contains { $0.value.contains("0123456789abcdef") || $0.value.contains("*") }
            try promise(names, "A change only for the tag, or for any.")
        } catch is Refusal {}
    }
}
