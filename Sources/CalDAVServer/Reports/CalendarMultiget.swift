// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import Storage

/// Resources by their addresses (RFC 4791 section 7.9).
struct CalendarMultiget: Report {
    static let name = PropertyName.caldav("calendar-multiget")

    private let request: MemberRequest
    private let hrefs: [String]

    var weight: Int { hrefs.reduce(0) { $0 + 2 * $1.utf8.count + 128 } }

    static func isOffered(at subject: Subject) -> Bool {
        switch subject {
        case .collection, .member, .home: true
        case .root, .principals, .principal, .calendars: false
        }
    }

    init(body: XMLElement) throws {
        request = try MemberRequest(body)
        hrefs = body.children(.dav, "href").map(\.trimmed)
        guard !hrefs.isEmpty else { throw DAVFault.badRequest("The report names no resource.") }
    }

    func answer(_ exchange: Exchange) async throws -> Response {
        guard let place = exchange.place else { return try await answerAtHome(exchange) }
        let answer = request.answer(exchange, floatingIn: place.collection.floatingZone)
        let asked = Self.asked(hrefs, exchange)
        return try await exchange.multistatus(
            Pages(exchange: exchange, place: place, answer: answer, rest: asked[...]),
            headers: exchange.preferenceApplied)
    }

    /// Answers for resources of all of the caller's collections.
    private func answerAtHome(_ exchange: Exchange) async throws -> Response {
        guard case .home = exchange.address, let caller = exchange.caller else { throw DAVFault.missing }
        let places = Dictionary(
            try await exchange.collections.all(of: caller).map { (ByteString($0.collection.segment), $0) }
        ) { first, _ in first }
        var (order, wanted, others): ([ByteString], [ByteString: [Asked]], [String]) = ([], [:], [])
        var seen: Set<ByteString> = []
        for href in hrefs {
            guard case .member(let user, let segment, let name) = exchange.paths.address(href: href),
                user.string == caller.userID, places[segment] != nil
            else {
                if seen.insert(ByteString(href)).inserted { others.append(href) }
                continue
            }
            let isNew = seen.insert(ByteString(exchange.paths.href(.member(user: user, segment: segment, name: name))))
            guard isNew.inserted else { continue }
            if wanted[segment] == nil { order.append(segment) }
            wanted[segment, default: []].append(.member(name))
        }
        var parts: [Pages] = []
        try await exchange.each(order) { segment in
            guard let place = places[segment], let asked = wanted[segment] else { return }
            var part = exchange
            part.place = place
            let answer = request.answer(part, floatingIn: place.collection.floatingZone)
            parts.append(Pages(exchange: part, place: place, answer: answer, rest: asked[...]))
        }
        return try await exchange.multistatus(
            PagesInTurn(parts, missing: others, cutsEach: true), headers: exchange.preferenceApplied)
    }

    /// A resource that is asked for.
    private enum Asked: Hashable {
        /// A member of the collection, by its name.
        case member(ByteString)
        /// An address of something else.
        case other(ByteString)
    }

    /// Returns what is asked for, each once (RFC 4918 section 14.24), in the order of the body.
    private static func asked(_ hrefs: [String], _ exchange: Exchange) -> [Asked] {
        var seen: Set<Asked> = []
        return hrefs.compactMap { href in
            let name = exchange.memberName(at: href).map { ByteString($0) }
            let isElsewhere = exchange.ownName.map { $0 != name } ?? false
            let asked: Asked = name.flatMap { isElsewhere ? nil : .member($0) } ?? .other(ByteString(href))
            return seen.insert(asked).inserted ? asked : nil
        }
    }

    private struct Pages: MultistatusPages {
        let exchange: Exchange
        let place: CollectionPlace
        let answer: MemberAnswer
        var rest: ArraySlice<Asked>
        /// Of how many the sizes are asked for: of most of them not again for the next page.
        var next = MemberAnswer.page

        mutating func write(to out: inout MultistatusWriter) async throws -> Bool {
            var page = rest.prefix(next)
            var names = Self.names(page)
            var found: [CalendarResource?] = []
            var members: [CalendarMember?] = []
            if answer.needsText {
                // Texts may be large, so their sizes are asked for first.
                let sizes = try await place.source.sizes(of: place.collection, named: names)
                var size = sizes.makeIterator()
                page = page.prefix(
                    page.fitting(CalendarCollection.pageBytes) { asked in
                        if case .member = asked { size.next() ?? 0 } else { 0 }
                    }.count)
                next = min(MemberAnswer.page, 2 * page.count)
                names = Self.names(page)
                found = try await place.source.resources(of: place.collection, named: names)
            } else {
                members = try await place.source.members(of: place.collection, named: names)
            }
            rest = rest.dropFirst(page.count)
            var index = 0
            try await exchange.each(Array(page)) { asked in
                switch asked {
                case .other(let href): out.response(href.string, status: 404)
                case .member(let name):
                    if let resource = found.indices.contains(index) ? found[index] : nil {
                        answer.write(resource, in: place, exchange, to: &out)
                    } else if let member = members.indices.contains(index) ? members[index] : nil {
                        answer.write(member, in: place, exchange, to: &out)
                    } else {
                        out.response(exchange.href(ofMember: name.string), status: 404)
                    }
                    index += 1
                }
            }
            return !rest.isEmpty
        }

        mutating func cut(_ out: inout MultistatusWriter, at href: String) {
            for asked in rest {
                let href =
                    switch asked {
                    case .other(let href): href.string
                    case .member(let name): exchange.href(ofMember: name.string)
                    }
                out.cut(at: href, sentence: "Ask for fewer resources at a time.")
            }
            rest = []
        }

        private static func names(_ page: ArraySlice<Asked>) -> [String] {
            page.compactMap { if case .member(let name) = $0 { name.string } else { nil } }
        }
    }
}

extension Exchange {
    /// The name of the member that the request's address is; nil for a collection.
    var ownName: ByteString? {
        switch address {
        case .member(_, _, let name), .feedMember(let name): name
        default: nil
        }
    }
}
