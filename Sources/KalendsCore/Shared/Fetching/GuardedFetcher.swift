// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Outbound

/// The validators by which a host identifies a version of its calendar (RFC 9110 section 8.8), and the address that
/// sent them.
struct FetchValidators: Hashable, Sendable {
    var etag: String?
    var lastModified: String?
    /// `PublicURL.digest` of the address that answered; the validators of another address have a different meaning.
    var source: String
}

/// A calendar that was fetched.
struct FetchedCalendar: Sendable {
    /// The bytes, in a spool, with the charset that Content-Type names.
    var upload: ImportUpload
    var validators: FetchValidators
    var finalHost: String
}

enum Download: Sendable {
    case notModified
    case calendar(FetchedCalendar)
}

/// Downloads calendars from addresses that users give, connecting only to hosts on the public Internet.
///
/// Every hop's host is looked up once, all of its addresses are checked, and the connection goes to one of exactly
/// these addresses: a name that resolves differently a moment later has no effect.
package struct GuardedFetcher: Sendable {
    private static let redirects = 5
    /// The maximum number of addresses of one host that are tried.
    private static let tries = 3
    /// How a request identifies its sender.
    private static let agent = "Kalends/1 (calendar import)"
    /// The same for hosts that answer only what looks like a browser, such as outlook.office365.com.
    private static let browser = "Mozilla/5.0 (X11) Chrome/139.0.0.0 \(agent)"

    let rules: DestinationRules
    /// The maximum size in bytes, both packed and unpacked.
    let limit: Int

    package init(_ settings: ServerSettings) {
        var rules = settings.fetching
        rules.allowsHTTP = settings.allowHTTPImports
        self.rules = rules
        limit = settings.maxImportBytes
    }

    /// Reads an address that a user gave; throws 422 with the pointer `/url`.
    func url(_ text: String) throws -> PublicURL {
        do {
            let url = try PublicURL(text, allowsHTTP: rules.allowsHTTP)
            if case .address(let address) = url.host, !rules.permits(address) { throw OutboundFailure.notPublic }
            return url
        } catch let failure as OutboundFailure {
            throw failure.refusal
        }
    }

    /// Downloads a calendar; throws 422, or 413 if it is too large, with the pointer `/url`.
    ///
    /// - Parameters:
    ///   - validators: those of the version already stored, so that an unchanged calendar is not sent again.
    ///   - admission: the holding that the bytes are counted for; its sender named the address.
    func fetch(
        url: PublicURL, validators: FetchValidators? = nil, for admission: FairPool.Holding?
    ) async throws -> Download {
        do {
            return try await attempt(url, validators, for: admission)
        } catch let failure as OutboundFailure {
            throw failure.refusal
        }
    }

    /// Like `fetch`, but throws `OutboundFailure`, and a `Refusal` if there is no room for the bytes.
    ///
    /// - Parameter asker: whoever named the address, if that is not the sender that the bytes are counted for.
    func attempt(
        _ url: PublicURL, _ validators: FetchValidators?, for admission: FairPool.Holding?, asker: ByteString? = nil
    ) async throws -> Download {
        let way = Way(validators: validators, admission: admission, asker: asker ?? admission?.sender.caller ?? "")
        guard let download = try await within(rules.deadline, { try await follow(url, way) }) else {
            throw OutboundFailure.timeout
        }
        return download
    }

    /// What all requests of a fetch share.
    private struct Way {
        let validators: FetchValidators?
        let admission: FairPool.Holding?
        let asker: ByteString
    }

    /// Follows an address as Kalends; where the host gives that nothing, a second time as a browser.
    private func follow(_ url: PublicURL, _ way: Way) async throws -> Download {
        do {
            return try await follow(url, way, as: Self.agent)
        } catch let failure as OutboundFailure where Self.mayMeanTheAgent(failure.kind) {
            do {
                return try await follow(url, way, as: Self.browser)
            } catch is OutboundFailure {
                throw failure
            }
        }
    }

    /// Whether a host may answer a browser otherwise: it led in a circle, refused, or failed, as Office 365 did for names
    /// that it does not know.
    private static func mayMeanTheAgent(_ kind: OutboundFailure.Kind) -> Bool {
        switch kind {
        case .redirects, .status(500): true
        // A sign-in that is wanted, no such calendar and too many questions are the same for everybody.
        case .status(401), .status(404), .status(407), .status(410), .status(429): false
        case .status(let status): (400..<500).contains(status)
        default: false
        }
    }

    private func follow(_ url: PublicURL, _ way: Way, as agent: String) async throws -> Download {
        var current = url
        var cookies = FetchCookies()
        var asked: Set<[ByteString]> = []
        for _ in 0...Self.redirects {
            guard asked.insert([ByteString(current.digest), ByteString(cookies.field(for: current) ?? "")]).inserted
            else {
                throw OutboundFailure.circle
            }
            let known = way.validators.flatMap { $0.source == current.digest ? $0 : nil }
            var headers = [(name: "User-Agent", value: agent)]
            if let field = cookies.field(for: current) { headers.append((name: "Cookie", value: field)) }
            let (answer, sink) = try await get(current, headers, known, way)
            cookies.take(answer, from: current)
            switch answer.status {
            case 200:
                guard let sink else { throw OutboundFailure.garbled }
                return .calendar(try calendar(answer, try sink.finish(), from: current))
            case 304 where known?.etag != nil || known?.lastModified != nil: return .notModified
            case 301, 302, 303, 307, 308:
                guard let location = answer.field("location") else { throw OutboundFailure.garbled }
                current = try current.following(location, allowsHTTP: rules.allowsHTTP)
            default: throw OutboundFailure.status(answer.status, retryAfter: Self.retryAfter(answer))
            }
        }
        throw OutboundFailure.redirects
    }

    /// Sends the request to the first address of the host that can be reached.
    private func get(
        _ url: PublicURL, _ first: [(name: String, value: String)], _ validators: FetchValidators?,
        _ way: Way
    ) async throws -> (OutboundAnswer, CalendarSink?) {
        var headers =
            first + [(name: "Accept", value: "text/calendar, */*;q=0.5"), (name: "Accept-Encoding", value: "gzip")]
        if let etag = validators?.etag { headers.append((name: "If-None-Match", value: etag)) }
        if let time = validators?.lastModified { headers.append((name: "If-Modified-Since", value: time)) }
        var failure = OutboundFailure.notPublic
        let limit = limit
        for address in try await rules.addresses(of: url.host, for: way.asker).prefix(Self.tries) {
            try Task.checkCancellation()
            do {
                return try await rules.transport.send(OutboundRequest(url: url, address: address, headers: headers)) {
                    answer in
                    // The bodies of other answers are not read.
                    answer.status == 200 ? try CalendarSink(answer, limit: limit, for: way.admission) : nil
                }
            } catch let error as OutboundFailure where error.kind == .unreachable {
                failure = error
            }
        }
        throw failure
    }

    private func calendar(
        _ answer: OutboundAnswer, _ upload: ImportUpload, from url: PublicURL
    ) throws -> FetchedCalendar {
        // Validators are sent back to the host later; unreasonably long ones are not kept.
        func kept(_ name: String) -> String? { answer.field(name).flatMap { $0.utf8.count <= 512 ? $0 : nil } }
        return FetchedCalendar(
            upload: upload,
            validators: FetchValidators(
                etag: kept("etag"), lastModified: kept("last-modified"), source: url.digest),
            finalHost: url.host.text)
    }

    /// Returns the requested wait in seconds, at most a week.
    private static func retryAfter(_ answer: OutboundAnswer) -> Int? {
        guard let text = answer.field("retry-after") else { return nil }
        let seconds = Int(text) ?? Instant(httpDate: text).map { ($0.milliseconds - systemClock()) / 1000 }
        return seconds.map { min(max(0, $0), 604_800) }
    }
}
