// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Storage

extension FeedReadingRoutes {
    /// The end of the name at which a feed says only when its reader is busy.
    static let freeBusyEnding = ".ifb"

    /// Answers when a feed's reader is busy (RFC 5545 section 3.6.4); a read of the feed, which ends with it.
    func freeBusy(
        of token: Secret, now: Int, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        switch try await services.ledger.resolve(token, now: now) {
        case .unknown: return try await miss(request, context)
        case .ended: return Self.ended(request)
        case .live: break
        }
        guard let asked = FeedFreeBusy.Asked(request) else {
            return Self.plain(.badRequest, "start and end must be times as RFC 3339 writes them, or days.\n", request)
        }
        let shown: FeedFreeBusy
        do {
            shown = try await services.feedReading.freeBusy(of: token, now: now, asked)
        } catch is FeedReading.Ended {
            return Self.ended(request)
        } catch FeedFreeBusy.Fault.noTime {
            return Self.plain(
                .badRequest, "start must be before end, and some of the time between within the feed's days.\n", request
            )
        }
        let tag = ContentCoding.identity.tag(of: ContentHash(of: SHA256.hash(data: shown.text)))
        let current = Validators(etag: tag, lastModified: shown.changed)
        guard ConditionalGet.isMeant(request.headers, for: current) else { return Self.notMeant(request) }
        let isNotModified = ConditionalGet.isNotModified(request.headers, current)
        let status: HTTPResponse.Status = isNotModified ? .notModified : .ok
        if request.method != .head {
            // It shows no event, so it does not count as having seen a change: the access has no version.
            try await count(
                FeedAccess(
                    feed: shown.live.number, at: now, client: ClientFamily(userAgent: request.headers[.userAgent]).code,
                    status: status.code, network: network(request, context)), context)
        }
        var headers = Validators(
            etag: tag, lastModified: FeedAnswer.lastModified(shown.changed, now: now)
        ).fields
        headers[.cacheControl] = "private, no-cache"
        FeedAnswer.eachSecretPageField { headers[$0] = $1 }
        if isNotModified { return Response(status: status, headers: headers) }
        headers[.contentType] = "text/calendar; charset=utf-8; component=VFREEBUSY"
        let response = Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: shown.text)))
        return request.method == .head ? response.createHeadResponse() : response
    }
}

extension FeedFreeBusy.Asked {
    /// Reads the query of a request; nil when a time in it cannot be read.
    fileprivate init?(_ request: Request) {
        let query = request.uri.queryParameters
        self.init()
        if let text = query["start"] {
            guard let moment = ItemSearch.Moment(text: String(text)) else { return nil }
            from = moment
        }
        if let text = query["end"] {
            guard let moment = ItemSearch.Moment(text: String(text)) else { return nil }
            to = moment
        }
        wantsAvailability = query["availability"].map { $0 == "1" } ?? false
    }
}
