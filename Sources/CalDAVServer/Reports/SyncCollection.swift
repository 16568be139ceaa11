// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import Storage

/// What changed in a collection since a token (RFC 6578 section 3).
struct SyncCollection: Report {
    static let name = PropertyName.dav("sync-collection")

    private let request: MemberRequest
    private let token: String
    /// The maximum number of resources that the client takes at once.
    private let limit: Int?

    static func isOffered(at subject: Subject) -> Bool { subject.collection != nil }

    init(body: XMLElement) throws {
        request = try MemberRequest(body)
        token = body.child(.dav, "sync-token")?.trimmed ?? ""
        // Without a level `Depth` says it (RFC 6578 appendix A).
        if let level = body.child(.dav, "sync-level")?.trimmed {
            guard level == "1" || level == "infinite" || level == "infinity" else {
                throw DAVFault.badRequest("The level of a synchronization must be 1 or infinite.")
            }
        }
        limit = try body.child(.dav, "limit").map { element in
            guard let count = element.child(.dav, "nresults").flatMap({ Int($0.trimmed) }), count > 0 else {
                throw DAVFault.badRequest("The limit of an answer must be a number above 0.")
            }
            return count
        }
    }

    func answer(_ exchange: Exchange) async throws -> Response {
        guard let place = exchange.place, exchange.ownName == nil else { throw DAVFault.missing }
        // Some clients send 1 in addition to the level.
        guard try exchange.depth() != .infinity else { throw DAVFault.badRequest("Depth must be 0 for this report.") }
        let position = try SyncPosition(token, of: place.collection, exchange.propertyContext.tokens)
        if case .listing(let number, after: .some) = position {
            // Changes from before the list began may no longer be known.
            _ = try await place.source.changes(of: place.collection, after: number, limit: 1)
        }
        let answer = request.answer(exchange, floatingIn: place.collection.floatingZone)
        let pages = Pages(exchange: exchange, place: place, answer: answer, position: position, left: limit ?? .max)
        return try await exchange.multistatus(pages, headers: exchange.preferenceApplied)
    }

    private struct Pages: MultistatusPages {
        let exchange: Exchange
        let place: CollectionPlace
        let answer: MemberAnswer
        var position: SyncPosition
        /// The number of resources that may still be answered.
        var left: Int

        /// How many resources are read at a time, and how many with their texts if their size is unknown.
        private static let (page, textPage) = (500, 5)

        mutating func write(to out: inout MultistatusWriter) async throws -> Bool {
            let hasMore =
                switch position {
                case .listing(let number, let name): try await list(number, after: name, to: &out)
                case .changes(let number): try await follow(number, to: &out)
                case .within(let number, let until, let name):
                    try await follow(number, behind: (until, ByteString(name)), to: &out)
                }
            guard !hasMore else {
                if left == 0 { cut(&out, at: exchange.href) }
                return left > 0
            }
            out.syncToken = position.token(of: place.collection, exchange.propertyContext.tokens)
            return false
        }

        /// Ends the answer early: the client continues with the returned sync-token (RFC 6578 section 3.6).
        mutating func cut(_ out: inout MultistatusWriter, at href: String) {
            out.cut(at: exchange.href(of: place.collection), sentence: "More follows: ask with this token.")
            out.syncToken = position.token(of: place.collection, exchange.propertyContext.tokens)
        }

        /// Writes the next members; returns whether there are more.
        private mutating func list(
            _ number: Int, after name: String?, to out: inout MultistatusWriter
        ) async throws -> Bool {
            let (source, collection) = (place.source, place.collection)
            let limit = min(left, answer.needsText ? MemberAnswer.page : answer.properties.page(Self.page))
            var members = try await source.members(of: collection, after: name, limit: limit)
            if answer.needsText { members = members.fitting(CalendarCollection.pageBytes, \.size) }
            guard let last = members.last?.name else {
                position = .changes(number)
                return false
            }
            try await write(members, to: &out)
            left -= members.count
            let isEnd =
                left == 0 ? try await source.members(of: collection, after: last, limit: 1).isEmpty : false
            position = isEnd ? .changes(number) : .listing(number, after: last)
            return !isEnd
        }

        /// Writes the next changes; returns whether there are more.
        ///
        /// - Parameter last: how far the client has the first of these changes, those of one act.
        private mutating func follow(
            _ number: Int, behind last: (until: Int, name: ByteString)? = nil, to out: inout MultistatusWriter
        ) async throws -> Bool {
            let most = answer.needsText ? Self.textPage : answer.properties.page(Self.page)
            let changes = try await place.source.changes(
                of: place.collection, after: number, limit: last == nil ? min(left, most) : 1)
            var (changed, removed) = (changes.changed, changes.removed)
            if let last, last.until == changes.number {
                changed.removeAll { ByteString($0.name) <= last.name }
                removed.removeAll { ByteString($0) <= last.name }
            }
            position = .changes(changes.number)
            if changed.count + removed.count > left {
                // A single act changed more than are wanted.
                let names = (changed.map { ByteString($0.name) } + removed.map { ByteString($0) }).sorted()
                let end = names[left - 1]
                changed.removeAll { ByteString($0.name) > end }
                removed.removeAll { ByteString($0) > end }
                position = .within(number, until: changes.number, after: end.string)
            }
            try await write(changed, to: &out)
            for name in removed { out.response(exchange.href(ofMember: name), status: 404) }
            left = max(0, left - changed.count - removed.count)
            if case .within = position { return true }
            return changes.isTruncated && changes.number > number
        }

        private func write(_ members: [CalendarMember], to out: inout MultistatusWriter) async throws {
            guard answer.needsText, !members.isEmpty else {
                return try await exchange.each(members) { answer.write($0, in: place, exchange, to: &out) }
            }
            var rest = members[...]
            while !rest.isEmpty {
                let group = rest.fitting(CalendarCollection.pageBytes, \.size)
                rest = rest.dropFirst(group.count)
                let found = try await place.source.resources(of: place.collection, named: group.map(\.name))
                // Resources that were removed since are among the next changes.
                try await exchange.each(found.compactMap(\.self)) { answer.write($0, in: place, exchange, to: &out) }
            }
        }
    }
}

/// How far a client is.
private enum SyncPosition {
    /// It lists everything that existed at a number, and has the part up to a name; nil at the beginning.
    case listing(Int, after: String?)
    /// It knows everything up to a number.
    case changes(Int)
    /// It also has what changed until another number, up to a name: a single act, only part of which fitted into the
    /// client's limit.
    case within(Int, until: Int, after: String)

    /// Reads a token; an empty one begins.
    init(_ token: String, of collection: CalendarCollection, _ tokens: SyncTokens) throws(CollectionFault) {
        // A name follows the number if a listing or an act is not finished; for an act, the number where it ends comes
        // before the name.
        let parts = token.pieces(separatedBy: "/").last.flatMap { $0.parted(at: "~") }
        let until = parts?.before.parted(at: ";")?.after
        let rest = (parts.map { $0.after.utf8.count + 1 } ?? 0) + (until.map { $0.utf8.count + 1 } ?? 0)
        guard let number = try tokens.number(in: String(token.utf8.dropLast(rest)) ?? "", of: collection) else {
            self = .listing(collection.number, after: nil)
            return
        }
        guard let parts else {
            self = .changes(number)
            return
        }
        guard let name = PercentEncoding.decode(parts.after) else { throw .invalidSyncToken }
        guard let until else {
            self = .listing(number, after: name)
            return
        }
        guard let end = Int(until) else { throw .invalidSyncToken }
        self = .within(number, until: end, after: name)
    }

    func token(of collection: CalendarCollection, _ tokens: SyncTokens) -> String {
        switch self {
        case .changes(let number), .listing(let number, after: nil): tokens.token(of: collection, at: number)
        case .listing(let number, after: let name?):
            tokens.token(of: collection, at: number) + "~" + PercentEncoding.encode(name)
        case .within(let number, let until, after: let name):
            tokens.token(of: collection, at: number) + ";\(until)~" + PercentEncoding.encode(name)
        }
    }
}
