// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// A server's listing of a calendar: names and etags, no contents.
struct CalDAVListing {
    /// The existing events by path, with their etags; nil for an event without an etag.
    var present: [ByteString: String?] = [:]
    /// Paths that the server reports as gone.
    var gone: Set<ByteString> = []
    var position: CalDAVCursor.Position?
    var isFull: Bool
    /// The approximate bytes of memory that all its names have taken.
    var weight = 0

    mutating func add(_ path: ByteString, _ etag: String?) {
        weight += Self.weight(path, etag)
        present[path] = .some(etag)
    }

    /// Adds a page of changes.
    mutating func add(_ page: CalDAVMembers) {
        for row in page.rows {
            if row.status == 404 || row.status == 410 {
                present.removeValue(forKey: row.path)
                guard !isFull else { continue }
                weight += Self.weight(row.path, nil)
                gone.insert(row.path)
            } else {
                gone.remove(row.path)
                add(row.path, row.etag)
            }
        }
    }

    /// A name is kept twice: in the listing, and while its event is read.
    private static func weight(_ path: ByteString, _ etag: String?) -> Int {
        256 + 2 * path.string.utf8.count + (etag?.utf8.count ?? 0)
    }
}

/// What one answer says about the members of a collection.
struct CalDAVMembers: Sendable {
    struct Row: Sendable {
        var path: ByteString
        var etag: String?
        /// Nil where the answer has the member's properties.
        var status: Int?
        var isFolder: Bool
    }

    var rows: [Row] = []
    var token: String?
    var ctag: String?
    /// Whether the collection itself is named, and its own status: 507 for an answer that is cut (RFC 6578 section 3.6).
    var namesCollection = false
    var status: Int?
    private var room: (any Sendable)?

    init(_ answer: Multistatus, of collection: DAVAddress, at finalAddress: DAVAddress) {
        (token, room) = (answer.syncToken, answer.room)
        for response in answer.responses {
            guard let address = DAVAddress(response.href, relativeTo: finalAddress) else { continue }
            if address.collection == collection {
                namesCollection = true
                // A cut answer names the collection once more.
                if status != 507 { status = response.status }
                ctag = response.text(.calendarServer, "getctag") ?? ctag
            } else if address.isMember(of: collection) {
                rows.append(
                    Row(
                        path: ByteString(address.path), etag: CalDAVVersion.etag(response.text(.dav, "getetag")),
                        status: response.status,
                        isFolder: response.property(.dav, "resourcetype")?.child(.dav, "collection") != nil))
            }
        }
    }
}

extension CalDAVCalendar {
    /// The maximum number of pages of one listing.
    private static let pageLimit = 1000
    /// The maximum number of a calendar's members in a listing, on all of its pages.
    private static let memberLimit = 200_000
    /// The maximum time for all pages of one listing, in milliseconds.
    private static let listingTime = 120_000

    private enum Page {
        case listed(CalDAVMembers)
        /// The token has expired, or the request was not understood because of it.
        case dead
        /// The server does not have this report.
        case unsupported
    }

    /// Returns the changes since a cursor, or everything.
    func listing(
        of collection: DAVAddress, since cursor: CalDAVCursor?
    ) async throws(ProviderFailure) -> CalDAVListing {
        if let cursor, now().seconds - cursor.fullAt.seconds < CalDAVCursor.fullInterval {
            switch cursor.position {
            case .token(let token):
                if let listing = try await synced(collection, since: token) { return listing }
            case .etags(let ctag, let etags):
                return try await compared(collection, ctag: ctag, etags: etags)
            }
        }
        if let listing = try await synced(collection, since: nil) { return listing }
        return try await listed(collection)
    }

    // MARK: sync-collection

    /// Returns nil when a token has expired, or when the server does not have this report.
    private func synced(
        _ collection: DAVAddress, since token: String?
    ) async throws(ProviderFailure) -> CalDAVListing? {
        var listing = CalDAVListing(isFull: token == nil)
        var next = token
        let began = session.clock()
        for _ in 0..<Self.pageLimit {
            guard session.clock() - began < Self.listingTime else {
                throw ProviderFailure(
                    .unavailable(retryAfter: nil), "The calendar server takes too long to list the calendar.",
                    code: "too-slow")
            }
            guard case .listed(let page) = try await page(collection, next) else { return nil }
            // An answer without a token is not an answer to this report, however empty it is.
            guard let token = page.token else { return nil }
            let before = listing.weight
            listing.add(page)
            try await session.http.keep(max(0, listing.weight - before))
            guard listing.present.count + listing.gone.count <= Self.memberLimit else {
                throw ProviderFailure(.malformed, "The server's listing never ends.")
            }
            listing.position = .token(token)
            guard page.status == 507 else { return listing }
            if let next, next.isSameText(as: token) {
                throw ProviderFailure(.malformed, "The server's listing does not continue.")
            }
            next = token
        }
        throw ProviderFailure(.malformed, "The server's listing never ends.")
    }

    private func page(_ collection: DAVAddress, _ token: String?) async throws(ProviderFailure) -> Page {
        let request = DAVSession.Request.report("0", DAVBody.syncCollection(token: token))
        let (answer, finalAddress) = try await session.send(request, to: collection)
        if answer.status == 207 { return .listed(try await members(answer, of: collection, at: finalAddress)) }
        let condition = DAVCondition(answer.body)?.name
        if token != nil, condition?.isSameText(as: "valid-sync-token") == true { return .dead }
        switch answer.status {
        case 404: throw session.failure(answer)
        case 423, 429, 502...504: throw session.failure(answer)
        // Servers report an unknown token in many ways.
        case 400..<500 where token != nil, 500 where token != nil: return .dead
        case 400, 403, 405, 409, 412, 415, 422, 501: return .unsupported
        default: throw session.failure(answer)
        }
    }

    private func members(
        _ answer: ProviderAnswer, of collection: DAVAddress, at finalAddress: DAVAddress
    ) async throws(ProviderFailure) -> CalDAVMembers {
        try await session.http.read(answer) { answer throws(ProviderFailure) in
            CalDAVMembers(try Multistatus(answer), of: collection, at: finalAddress)
        }
    }

    // MARK: Without tokens

    /// Lists everything by etags, and compares it with a cursor.
    private func compared(
        _ collection: DAVAddress, ctag: String?, etags: [ByteString: String]
    ) async throws(ProviderFailure) -> CalDAVListing {
        if let ctag, let now = try await self.ctag(of: collection), now.isSameText(as: ctag) {
            return CalDAVListing(position: .etags(ctag: ctag, etags), isFull: false)
        }
        var listing = try await listed(collection)
        listing.isFull = false
        listing.gone = Set(etags.keys.filter { listing.present.index(forKey: $0) == nil })
        listing.present = listing.present.filter { path, etag in
            guard let etag, let known = etags[path] else { return true }
            return !known.isSameText(as: etag)
        }
        return listing
    }

    private func ctag(of collection: DAVAddress) async throws(ProviderFailure) -> String? {
        try await session.multistatus(.propfind("0", ["CS:getctag"]), at: collection) {
            found, _ throws(ProviderFailure) -> String? in
            guard let response = found.responses.first else { return nil }
            // Some servers report a missing collection as a 404 within a 207.
            if response.status == 404 {
                throw ProviderFailure(.calendarMissing, "The server has no such calendar.")
            }
            return response.text(.calendarServer, "getctag")
        }
    }

    /// Lists all etags by PROPFIND, or by a query where the server does not list a collection that way.
    private func listed(_ collection: DAVAddress) async throws(ProviderFailure) -> CalDAVListing {
        let properties = ["D:getetag", "D:resourcetype", "CS:getctag"]
        let (answer, finalAddress) = try await session.send(.propfind("1", properties), to: collection)
        let found: CalDAVMembers
        switch answer.status {
        case 207: found = try await members(answer, of: collection, at: finalAddress)
        case 400, 403, 405, 501:
            let query = DAVSession.Request.report("1", DAVBody.queryOfEvents())
            let (second, _) = try await session.send(query, to: collection)
            guard second.status == 207 else { throw session.failure(second) }
            found = try await members(second, of: collection, at: finalAddress)
        default: throw session.failure(answer)
        }
        guard found.status != 404 else {
            throw ProviderFailure(.calendarMissing, "The server has no such calendar.")
        }
        // A listing that does not name the collection itself is not a listing of it, and must not be treated as an
        // empty one.
        guard found.namesCollection || answer.status != 207 else {
            throw ProviderFailure(.malformed, "The server lists a collection other than the calendar.")
        }
        var listing = CalDAVListing(isFull: true)
        for row in found.rows where row.status != 404 && !row.isFolder { listing.add(row.path, row.etag) }
        try await session.http.keep(listing.weight)
        let etags = listing.present.compactMapValues(\.self)
        listing.position = etags.count == listing.present.count ? .etags(ctag: found.ctag, etags) : nil
        return listing
    }
}
