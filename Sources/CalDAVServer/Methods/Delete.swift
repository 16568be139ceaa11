// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

extension Exchange {
    /// Removes a resource, or a calendar of the person's own with everything in it.
    func delete(for caller: CalDAVCaller) async throws -> Response {
        guard let place else {
            switch address {
            case .collection, .member: throw DAVFault.missing
            default: throw DAVFault.needsPrivileges(href, "unbind")
            }
        }
        switch address {
        case .member(_, _, let name):
            guard place.collection.mayWrite else {
                // A missing resource is reported as missing, also where nothing can be removed.
                _ = try await subject()
                throw DAVFault.needsPrivileges(href, "unbind")
            }
            try await place.source.delete(
                name.string, from: place.collection, if: WriteConditions(request.headers), for: caller,
                room: roomOfChange)
        default:
            guard try depth() ?? .infinity == .infinity else {
                throw DAVFault.badRequest("A collection is removed with everything in it.")
            }
            guard place.isOwn, place.collection.mayWrite else { throw DAVFault.needsPrivileges(href, "unbind") }
            try await collections.remove(place, for: caller)
        }
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }
}
