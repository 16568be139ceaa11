// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import HTTPTypes
import ICalBridge
import KalendsCore
import Storage

/// The data that is looked up for a request: which feed, when, and in which form and coding.
struct FeedRenderKey: Sendable {
    let key: TokenKey
    /// Milliseconds since 1970.
    let now: Int
    let isHead: Bool
    let form: CalendarForm
    let coding: ContentCoding
    let family: ClientFamily
    /// Whether the address is that of a collection, too.
    let isCollection: Bool

    init(_ request: FeedRequest, _ token: Secret, on route: FeedPath.Route, family: ClientFamily, now: Int) {
        (key, isHead, self.family, self.now) = (token.key, request.isHead, family, now)
        isCollection = route == .named
        form = request.accept.isEmpty ? .iCalendar : CalendarForm(accept: request.accept)
        coding = ContentCoding(acceptEncoding: request.acceptEncoding, from: family)
    }
}

/// The only place that decides what a live feed answers: form, coding, validators, condition and header fields.
package struct FeedAnswer: Sendable {
    let look: FeedRenderKey
    let shown: ShownFeed
    /// The validators that the reader gets.
    let validators: Validators
    let isNotModified: Bool
    /// The last change of what is shown.
    private let changed: Instant

    /// The answer from what is remembered about a live feed; nil when its bytes have to be made first.
    ///
    /// - Parameter caller: who may know the tag already.
    init?(
        _ request: FeedRequest, _ look: FeedRenderKey, _ live: LiveFeed, in feeds: FeedCache,
        for caller: FeedFastPath.Caller? = nil
    ) {
        guard let shown = feeds.shown(live, for: look.key, as: look.form, now: look.now) else { return nil }
        let tag = caller?.tag(of: shown.hash, look.coding)
        self.init(request, look, shown, etag: tag, changedAt: live.changedAt)
    }

    /// - Parameter changedAt: the last change of what is shown, not counting the change of day, in milliseconds since
    ///   1970.
    init(_ request: FeedRequest, _ look: FeedRenderKey, _ shown: ShownFeed, etag: String? = nil, changedAt: Int) {
        (self.look, self.shown) = (look, shown)
        let tag = etag ?? look.coding.tag(of: shown.hash)
        changed = Instant(milliseconds: max(changedAt, shown.from))
        validators = Validators(etag: tag, lastModified: Self.lastModified(changed, now: look.now))
        isNotModified = ConditionalGet.isNotModified(
            ifNoneMatch: request.ifNoneMatch, ifModifiedSince: request.ifModifiedSince,
            Validators(etag: tag, lastModified: changed))
    }

    /// The validators by which conditions are judged: the date is that of the change, also where the reader gets an
    /// earlier one.
    var current: Validators { Validators(etag: validators.etag, lastModified: changed) }

    var status: HTTPResponse.Status { isNotModified ? .notModified : .ok }

    var bodyKey: FeedBodies.Key { FeedBodies.Key(hash: shown.hash, form: look.form, coding: look.coding) }

    /// The cache key of the bytes before they are packed.
    var plainKey: FeedBodies.Key { FeedBodies.Key(hash: shown.hash, form: look.form, coding: .identity) }

    /// The access that is counted before the answer is sent; nil for HEAD, which does not read the feed.
    ///
    /// - Parameter version: the version that the answer shows, which may be newer than the one looked up.
    func access(
        to live: LiveFeed, showing version: FeedVersion, from network: @autoclosure () -> NetworkPrefix
    ) -> FeedAccess? {
        guard !look.isHead else { return nil }
        return FeedAccess(
            feed: live.number, at: look.now, client: look.family.code, status: status.code, network: network(),
            version: version.circleVersion)
    }

    /// Everything that `eachField` depends on.
    struct Head: Hashable, Sendable {
        var validators: Validators
        var isNotModified: Bool
        var form: CalendarForm
        var coding: ContentCoding
        var isCollection: Bool
    }

    var head: Head {
        Head(
            validators: validators, isNotModified: isNotModified, form: look.form, coding: look.coding,
            isCollection: look.isCollection)
    }

    /// Calls `body` for each header field of the answer except Content-Length and Date, in order.
    func eachField(_ body: (HTTPField.Name, String) -> Void) {
        body(.eTag, validators.etag)
        if let lastModified = validators.lastModified { body(.lastModified, lastModified.httpDate) }
        body(.cacheControl, "private, no-cache")
        // The answer depends on the program too: some programs are never sent gzip.
        body(.vary, "Accept, Accept-Encoding, User-Agent")
        Self.eachSecretPageField(body)
        if !isNotModified {
            body(.contentType, look.form.contentType)
            if look.coding == .gzip { body(.contentEncoding, "gzip") }
            // An app that speaks CalDAV finds the collection at the same address, and then reads only changes.
            if look.isCollection { body(.link, "<>; rel=\"subscribe-caldav\"") }
        }
    }

    /// The fields that keep an address with a secret out of search engines and Referer.
    package static func eachSecretPageField(_ body: (HTTPField.Name, String) -> Void) {
        body(.xRobotsTag, "noindex")
        body(.referrerPolicy, "no-referrer")
        body(.xContentTypeOptions, "nosniff")
    }

    /// Until the second of the last change is over, the date is one second before now, so that a second change in it is
    /// noticed.
    ///
    /// A date is never later than the answer (RFC 9110 section 8.8.2.1), although many changes within a second, and other
    /// servers' clocks, can place the last one in the future.
    static func lastModified(_ changed: Instant, now: Int) -> Instant {
        min(changed, Instant(milliseconds: now).adding(seconds: -1))
    }
}

extension ContentCoding {
    /// The strong entity tag of these bytes in this coding.
    ///
    /// Another version of zlib may pack the same bytes differently, so the tag contains the version.
    func tag(of hash: ContentHash) -> String {
        switch self {
        case .identity: "\"\(hash.text)\""
        case .gzip: "\"\(hash.text)-gz\(Gzip.version)\""
        }
    }
}

extension HTTPField.Name {
    static let xRobotsTag = HTTPField.Name("X-Robots-Tag") ?? .from
    static let link = HTTPField.Name("Link") ?? .from
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .from
}
