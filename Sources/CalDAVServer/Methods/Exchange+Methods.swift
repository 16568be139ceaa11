// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import KalendsFront

extension Exchange {
    /// Answers the request by its method.
    func respond() async throws -> Response {
        switch request.method.rawValue {
        case "OPTIONS": return options()
        case "GET", "HEAD": return try await get()
        case "PROPFIND":
            // Only a list of what is in a collection may be long.
            return (try? depth()) == .one ? try await working { try await $0.propfind() } : try await propfind()
        case "REPORT": return try await working { try await $0.report() }
        default: break
        }
        guard let caller else {
            // At a feed's address nothing changes, whatever the method.
            throw DAVFault.needsPrivileges(nil)
        }
        return try await muted(for: caller) { try await write(for: caller) }
    }

    private func write(for caller: CalDAVCaller) async throws -> Response {
        if case .registration(let id) = address {
            guard request.method == .delete else { throw DAVFault.notAllowed(allowed) }
            return try await removeRegistration(id, for: caller)
        }
        switch request.method.rawValue {
        case "POST": return try await post(for: caller)
        case "PROPPATCH": return try await proppatch(for: caller)
        case "MKCALENDAR": return try await makeCalendar(isExtended: false, for: caller)
        case "MKCOL": return try await makeCalendar(isExtended: true, for: caller)
        case "PUT": return try await put(for: caller)
        case "DELETE": return try await delete(for: caller)
        case "MOVE": return try await transfer(isMove: true, for: caller)
        case "COPY": return try await transfer(isMove: false, for: caller)
        default: throw DAVFault.notAllowed(allowed)
        }
    }

    /// The methods of the resource, for `Allow`.
    var allowed: String {
        let reading = FeedDoor.reading
        switch address {
        case .feed, .feedMember: return reading
        case .registration: return "OPTIONS, DELETE"
        case .root, .principals, .principal, .calendars, .home: return reading + ", PROPPATCH"
        case .collection:
            guard let place else { return "OPTIONS, MKCALENDAR, MKCOL" }
            return reading + ", POST, PROPPATCH" + (place.isOwn && place.collection.mayWrite ? ", DELETE" : "")
        case .member:
            return reading + (place?.collection.mayWrite == true ? ", PUT, DELETE, MOVE, COPY, PROPPATCH" : "")
        }
    }

    private func options() -> Response {
        Response(status: .ok, headers: [.allow: allowed, .cacheControl: "no-store", .contentLength: "0"])
    }

    /// The resource at the address; throws 404 for an address that has nothing.
    func subject() async throws -> Subject {
        guard let subject = try await subject(at: address) else { throw DAVFault.missing }
        return subject
    }

    /// A resource that answers may show; nil for an address that has nothing, or is somebody else's.
    func subject(at address: DAVAddress) async throws -> Subject? {
        guard address.user.map({ $0.string == caller?.userID }) ?? true else { return nil }
        switch address {
        case .root: return .root
        case .principals: return .principals
        case .calendars: return .calendars
        case .home: return .home
        // It can only be removed.
        case .registration: return nil
        case .principal:
            guard let caller else { return nil }
            return .principal(try await collections.person(of: caller))
        case .collection, .feed: return try await place(at: address).map { .collection($0.collection) }
        case .member(_, _, let name), .feedMember(let name):
            // A text, which may be long, is made for its tag, whatever the method.
            guard work != nil else { return try await working { try await $0.subject(at: address) } }
            guard let place = try await place(at: address),
                let member = try await place.source.members(of: place.collection, named: [name.string]).first ?? nil
            else { return nil }
            return .member(member, of: place.collection)
        }
    }

    /// The collection that an address is or is in.
    func place(at other: DAVAddress) async throws -> CollectionPlace? {
        guard let caller, let segment = other.segment, segment != address.segment else { return place }
        return try await collections.find(segment.string, of: caller)
    }

    /// The body as XML, whose memory is counted until the answer exists or until the body is released; nil for an empty one.
    /// Throws 400 for one that is not well-formed.
    func xml() async throws -> XMLElement? {
        // Elements take at most as much memory as the smallest of them that fit into their number.
        let bytes = try await request.bytes(limit: RequestXML.limit, times: 16, context)
        if bytes.isEmpty { return nil }
        do {
            return try await RequestXML.read(bytes, for: context.sender)
        } catch let failure as XMLFailure {
            throw DAVFault.badRequest(failure.message)
        }
    }
}
