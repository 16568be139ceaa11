// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import KalendsFront

extension Exchange {
    /// RFC 4918 section 9.1.
    func propfind() async throws -> Response {
        let asked = try await readPropfind()
        context.memory.letGoOfBody()
        // Without the field everything below is meant, and nobody gets that.
        let depth = try depth() ?? .infinity
        let subject = try await subject()
        guard depth != .infinity || !address.isCollection else {
            throw DAVFault.forbidden(.dav("propfind-finite-depth"), "Depth must be 0 or 1.")
        }
        var (listing, headers) = (
            Listing(asked: asked, subjects: [(href, subject)], exchange: self), preferenceApplied
        )
        if depth == .one, prefers("depth-noroot") {
            listing.subjects = []
            headers.append(HTTPField(name: .preferenceApplied, value: "depth-noroot"))
        }
        if depth == .one { try await addChildren(of: subject, to: &listing) }
        return try await multistatus(listing, headers: headers)
    }

    /// The properties that the body asks for; the whole body has been read.
    private func readPropfind() async throws -> PropertyRequest {
        let body = try await xml()
        guard body?.is(.dav, "propfind") ?? true else {
            throw DAVFault.badRequest("The body is not a DAV:propfind element.")
        }
        if let body {
            let choices = body.children.count { child in
                child.is(.dav, "prop") || child.is(.dav, "allprop") || child.is(.dav, "propname")
            }
            guard choices == 1 || body.children.isEmpty else {
                throw DAVFault.badRequest("The body must ask for some properties, for all, or for their names.")
            }
        }
        return try PropertyRequest(body, isMinimal: isMinimal)
    }

    private func addChildren(of subject: Subject, to listing: inout Listing) async throws {
        func add(_ address: DAVAddress) async throws {
            guard let child = try await self.subject(at: address) else { return }
            listing.subjects.append((paths.href(address), child))
        }
        switch subject {
        case .root:
            try await add(.principals)
            try await add(.calendars)
        case .principals: if let caller { try await add(.principal(user: ByteString(caller.userID))) }
        case .calendars: if let caller { try await add(.home(user: ByteString(caller.userID))) }
        case .home:
            guard let caller else { return }
            for place in try await collections.all(of: caller) {
                listing.subjects.append((href(of: place.collection), .collection(place.collection)))
            }
        case .collection: listing.place = place
        case .principal, .member: break
        }
    }
}

/// The properties of resources, and then those of a collection's members, page by page.
struct Listing: MultistatusPages {
    let asked: PropertyRequest
    var subjects: [(href: String, subject: Subject)]
    let exchange: Exchange
    /// The collection whose members follow.
    var place: CollectionPlace?
    private var after: String?

    init(asked: PropertyRequest, subjects: [(href: String, subject: Subject)], exchange: Exchange) {
        (self.asked, self.subjects, self.exchange) = (asked, subjects, exchange)
    }

    /// How many members are read at a time.
    static let page = 1000

    mutating func write(to out: inout MultistatusWriter) async throws -> Bool {
        guard subjects.isEmpty else {
            try await exchange.each([subjects.removeFirst()]) { out.response($0.href, asked, of: $0.subject) }
            return !subjects.isEmpty || place != nil
        }
        guard let place else { return false }
        let page = asked.page(Self.page)
        let members = try await place.source.members(of: place.collection, after: after, limit: page)
        try await exchange.each(members) { member in
            out.response(exchange.href(ofMember: member.name), asked, of: .member(member, of: place.collection))
        }
        after = members.last?.name
        return members.count == page
    }
}
