// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Storage

extension Exchange {
    /// MKCALENDAR (RFC 4791 section 5.3.1) and MKCOL (RFC 5689), where a request without a body makes a calendar, too:
    /// there is nothing else that a person makes here.
    func makeCalendar(isExtended: Bool, for caller: CalDAVCaller) async throws -> Response {
        let body = try await wantedBody()
        guard case .collection(_, let segment) = address else {
            guard case .member = address else { throw exists(isExtended) }
            guard place != nil else { throw DAVFault(.conflict, nil, "There is no collection to put this into.") }
            guard try await subject(at: address) == nil else { throw exists(isExtended) }
            throw DAVFault.forbidden(
                .caldav("calendar-collection-location-ok"), "A calendar cannot be within another one.")
        }
        guard place == nil else { throw exists(isExtended) }
        guard caller.mayWrite, caller.own else { throw DAVFault.needsPrivileges(propertyContext.home ?? href, "bind") }
        let wanted = try wanted(body, isExtended: isExtended)
        guard wanted.update.protected.isEmpty else {
            let condition = PropertyName.dav("cannot-modify-protected-property")
            guard isExtended else { return try await failure(wanted.update, 403, wanted.update.protected, condition) }
            throw DAVFault.forbidden(condition, "Only the server sets some of these properties.")
        }
        do {
            _ = try await collections.make(
                segment.string, components: wanted.components, properties: wanted.update.set, for: caller)
        } catch CollectionFault.exists {
            // Another app was first, or this one does not see the existing collection.
            throw exists(isExtended)
        }
        return Response(status: .created, headers: [.cacheControl: "no-cache"])
    }

    /// MKCOL is 405 where something is (RFC 4918 section 9.3.1), and MKCALENDAR is in conflict with it.
    private func exists(_ isExtended: Bool) -> any Error {
        guard !isExtended else { return CollectionFault.exists }
        return DAVFault(.conflict, .dav("resource-must-be-null"), "There is something at this address already.")
    }

    /// The body, which need not be called XML to be it.
    private func wantedBody() async throws -> XMLElement? {
        do {
            return try await xml()
        } catch let fault as DAVFault where fault.status == .badRequest {
            guard let type = request.headers[.contentType], !type.asciiLowercased.hasXMLType else { throw fault }
            throw DAVFault(.unsupportedMediaType, nil, "The body has to be XML.")
        }
    }

    /// The properties that the body sets on the calendar to be made.
    private func wanted(
        _ body: XMLElement?, isExtended: Bool
    ) throws -> (components: [CalendarComponent], update: PropertyUpdate) {
        let all = CalendarComponent.allCases
        guard let body else { return (all, PropertyUpdate()) }
        guard isExtended ? body.is(.dav, "mkcol") : body.is(.caldav, "mkcalendar") else {
            throw DAVFault(
                .unsupportedMediaType, nil, "The body is not a \(isExtended ? "DAV:mkcol" : "C:mkcalendar") element.")
        }
        var update = try PropertyUpdate(body)
        let (type, set) = (PropertyName.dav("resourcetype"), PropertyName.caldav("supported-calendar-component-set"))
        if let element = update.elements[type] {
            guard element.child(.caldav, "calendar") != nil, element.child(.dav, "collection") != nil else {
                throw DAVFault.forbidden(.dav("valid-resourcetype"), "Only calendars are made here.")
            }
        }
        var components = all
        if let element = update.elements[set] {
            let names = element.children(.caldav, "comp").compactMap { $0.attribute("name") }
            components = all.filter { component in names.contains { $0 == component.rawValue } }
            guard !components.isEmpty, components.count == Set(names.map { ByteString($0) }).count else {
                throw CollectionFault.unsupportedComponent
            }
        }
        update.drop([type, set])
        return (components, update)
    }
}

extension String {
    /// Whether a media type is XML.
    fileprivate var hasXMLType: Bool {
        let essence = (pieces(separatedBy: ";").first ?? "").withoutOuterBlanks
        return essence == "application/xml" || essence == "text/xml" || essence.hasSuffix("+xml")
    }
}
