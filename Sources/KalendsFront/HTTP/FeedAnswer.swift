// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import NIOCore
import Storage

/// The only place that decides what a live feed answers: form, coding, validators, condition and header fields.
struct FeedAnswer: Sendable {
    let form: CalendarForm
    let coding: ContentCoding
    let family: ClientFamily
    let shown: ShownFeed
    let validators: Validators
    let isNotModified: Bool

    /// - Parameters:
    ///   - etag: the tag of what is shown in the coding, if it is known already.
    ///   - changedAt: the last change of what is shown, not counting the change of day, in milliseconds since 1970.
    init(
        _ request: FeedRequest, _ choice: Choice, _ shown: ShownFeed, etag: String? = nil, changedAt: Int, now: Int
    ) {
        (form, coding, family) = (choice.form, choice.coding, choice.family)
        self.shown = shown
        validators = Validators(
            etag: etag ?? choice.coding.tag(of: shown.hash),
            lastModified: Self.lastModified(max(changedAt, shown.from), now: now))
        isNotModified = ConditionalGet.isNotModified(
            ifNoneMatch: request.ifNoneMatch, ifModifiedSince: request.ifModifiedSince, validators)
    }

    /// The form and coding that a request prefers.
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

    /// The cache key of the bytes before they are packed.
    var plainKey: FeedBodies.Key { FeedBodies.Key(hash: shown.hash, form: form, coding: .identity) }

    /// The access that is counted for the answer.
    ///
    /// - Parameter version: the version that the answer shows, which may be newer than the one looked up.
    func access(
        to live: LiveFeed, showing version: FeedVersion, from network: NetworkPrefix, at now: Int
    ) -> FeedAccess {
        FeedAccess(
            feed: live.number, at: now, client: family.code, status: status.code, network: network,
            version: version.circleVersion)
    }

    /// Everything that `eachField` depends on.
    struct Head: Hashable, Sendable {
        var validators: Validators
        var isNotModified: Bool
        var form: CalendarForm
        var coding: ContentCoding
    }

    var head: Head { Head(validators: validators, isNotModified: isNotModified, form: form, coding: coding) }

    /// Calls `body` for each header field of the answer except Content-Length and Date, in order.
    func eachField(_ body: (HTTPField.Name, String) -> Void) {
        body(.eTag, validators.etag)
        if let lastModified = validators.lastModified { body(.lastModified, lastModified.httpDate) }
        body(.cacheControl, "private, no-cache")
        // The answer depends on the program too: some programs are never sent gzip.
        body(.vary, "Accept, Accept-Encoding, User-Agent")
        Self.eachSecretPageField(body)
        if !isNotModified {
            body(.contentType, form.contentType)
            if coding == .gzip { body(.contentEncoding, "gzip") }
        }
    }

    /// The fields that keep an address with a secret out of search engines and Referer.
    static func eachSecretPageField(_ body: (HTTPField.Name, String) -> Void) {
        body(.xRobotsTag, "noindex")
        body(.referrerPolicy, "no-referrer")
        body(.xContentTypeOptions, "nosniff")
    }

    /// Until the second of the last change is over, the date is one second earlier, so that a second change in it is
    /// noticed.
    private static func lastModified(_ changedAt: Int, now: Int) -> Instant {
        let changed = Instant(milliseconds: changedAt)
        let isRunning = changed.seconds >= Instant(milliseconds: now).seconds
        return isRunning ? changed.adding(seconds: -1) : changed
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
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .from
}
