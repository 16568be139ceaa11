// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import NIOCore
import Storage

/// The one place that decides what a live feed answers: form, coding, validators, condition and header fields.
struct FeedAnswer: Sendable {
    let form: CalendarForm
    let coding: ContentCoding
    let family: ClientFamily
    let shown: ShownFeed
    let validators: Validators
    let isNotModified: Bool

    /// - Parameter changedAt: the last change of what is shown, the day aside, in milliseconds since 1970.
    init(_ request: FeedRequest, _ choice: Choice, _ shown: ShownFeed, changedAt: Int, now: Int) {
        (form, coding, family) = (choice.form, choice.coding, choice.family)
        self.shown = shown
        validators = Validators(
            etag: choice.coding.tag(of: shown.hash),
            lastModified: Self.lastModified(max(changedAt, shown.from), now: now))
        isNotModified = ConditionalGet.isNotModified(
            ifNoneMatch: request.ifNoneMatch, ifModifiedSince: request.ifModifiedSince, validators)
    }

    /// What a request prefers.
    struct Choice: Sendable {
        let form: CalendarForm
        let coding: ContentCoding
        let family: ClientFamily

        init(_ request: FeedRequest, family: ClientFamily) {
            self.family = family
            form = request.accept.isEmpty ? .iCalendar : CalendarForm(accept: request.accept)
            coding = ContentCoding(acceptEncoding: request.acceptEncoding, from: family)
        }
    }

    var status: HTTPResponse.Status { isNotModified ? .notModified : .ok }

    var bodyKey: FeedBodies.Key { FeedBodies.Key(hash: shown.hash, form: form, coding: coding) }

    /// Where the bytes are before they are packed.
    var plainKey: FeedBodies.Key { FeedBodies.Key(hash: shown.hash, form: form, coding: .identity) }

    /// What is counted of the answer.
    ///
    /// - Parameter version: what the answer shows, which may be newer than what was looked up.
    func access(
        to live: LiveFeed, showing version: FeedVersion, from network: NetworkPrefix, at now: Int
    ) -> FeedAccess {
        FeedAccess(
            feed: live.number, at: now, client: family.code, status: status.code, network: network,
            version: version.circleVersion)
    }

    /// All header fields of the answer but Content-Length and Date, in order.
    func eachField(_ body: (HTTPField.Name, String) -> Void) {
        body(.eTag, validators.etag)
        if let lastModified = validators.lastModified { body(.lastModified, lastModified.httpDate) }
        body(.cacheControl, "private, no-cache")
        // What is sent depends on the program too: some are never sent gzip.
        body(.vary, "Accept, Accept-Encoding, User-Agent")
        Self.eachSecretPageField(body)
        if !isNotModified {
            body(.contentType, form.contentType)
            if coding == .gzip { body(.contentEncoding, "gzip") }
        }
    }

    /// What keeps an address with a secret in it out of search engines and Referer.
    static func eachSecretPageField(_ body: (HTTPField.Name, String) -> Void) {
        body(.xRobotsTag, "noindex")
        body(.referrerPolicy, "no-referrer")
        body(.xContentTypeOptions, "nosniff")
    }

    /// While the second of the last change still runs the date shows one less, so that a second change in it is seen.
    private static func lastModified(_ changedAt: Int, now: Int) -> Instant {
        let changed = Instant(milliseconds: changedAt)
        let isRunning = changed.seconds >= Instant(milliseconds: now).seconds
        return isRunning ? changed.adding(seconds: -1) : changed
    }
}

extension ContentCoding {
    /// Each coding of the same bytes has its own strong entity tag.
    ///
    /// Another version of zlib may pack the same bytes differently, so that its tag is another one too.
    func tag(of hash: ContentHash) -> String {
        switch self {
        case .identity: "\"\(hash.text)\""
        case .gzip: "\"\(hash.text)-gz\(Gzip.version)\""
        }
    }
}

extension HTTPField.Name {
    static let xRobotsTag = HTTPField.Name("X-Robots-Tag") ?? .from
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .from
}
