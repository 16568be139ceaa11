// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

extension Exchange {
    /// MOVE and COPY of a resource within and between a person's own calendars (RFC 4918 sections 9.8 and 9.9).
    func transfer(isMove: Bool, for caller: CalDAVCaller) async throws -> Response {
        let destination = try destination()
        guard case .member(_, _, let name) = address else {
            _ = try await subject()
            throw DAVFault(.forbidden, nil, "Calendars cannot be moved or copied, only the entries in them.")
        }
        guard let place else { throw DAVFault.missing }
        _ = try await subject()
        guard let target = paths.address(href: destination, isOwn: isOwn) else {
            throw DAVFault(.conflict, nil, "There is no calendar at the destination.")
        }
        guard case .member(_, _, let newName) = target, target != address else {
            throw DAVFault(.forbidden, nil, "The destination must be another address within a calendar.")
        }
        guard target.user.map({ $0.string == caller.userID }) == true else {
            throw DAVFault.needsPrivileges(paths.href(target), "bind")
        }
        guard let other = try await self.place(at: target) else {
            throw DAVFault(.conflict, nil, "There is no calendar at the destination.")
        }
        guard place.isOwn, other.isOwn else {
            throw DAVFault(.forbidden, nil, "Entries can be moved or copied only between your own calendars.")
        }
        guard other.collection.mayWrite, place.collection.mayWrite || !isMove else {
            throw DAVFault.needsPrivileges(paths.href(target), "bind")
        }
        let isReplaced = try await collections.transfer(
            name.string, of: place, to: newName.string, in: other, isMove: isMove, overwrites: try overwrites(),
            if: WriteConditions(request.headers), for: caller)
        return Response(
            status: isReplaced ? .noContent : .created,
            // As the client wrote it, so that it finds the address again.
            headers: [.cacheControl: "no-store", .location: destination])
    }

    private func overwrites() throws(DAVFault) -> Bool {
        switch request.headers[.overwrite]?.withoutOuterBlanks.asciiLowercased {
        case nil, "t": return true
        case "f": return false
        default: throw .badRequest("Overwrite is T or F.")
        }
    }

    /// What `Destination` names; throws 502 for something at another server.
    private func destination() throws(DAVFault) -> String {
        guard let field = request.headers[.destination]?.withoutOuterBlanks, !field.isEmpty else {
            throw .badRequest("Destination must name the new address.")
        }
        guard DAVPaths.path(of: String(field), isOwn: isOwn) != nil else {
            throw DAVFault(.badGateway, nil, "The destination is at another server.")
        }
        return String(field)
    }

    /// Whether an authority is this server's: the one that the request names, or that of the public address.
    private func isOwn(_ authority: String) -> Bool {
        let authority = authority.asciiLowercased
        if request.head.authority?.asciiLowercased == authority { return true }
        let url = services.settings.publicURL.parted(at: "://")?.after ?? ""
        return String(url.pieces(separatedBy: "/").first ?? "").asciiLowercased == authority
    }
}
