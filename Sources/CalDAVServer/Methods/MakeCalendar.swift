// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore

extension Exchange {
    /// MKCALENDAR (RFC 4791 section 5.3.1) and MKCOL (RFC 5689), of which one without a body makes a calendar, too:
    /// there is nothing else that a person makes here.
    func makeCalendar(isExtended: Bool, for caller: CalDAVCaller) async throws -> Response {
        guard case .collection(_, let segment) = address else {
            guard case .member = address else { throw CollectionFault.exists }
            guard place != nil else { throw DAVFault(.conflict, nil, "There is no collection to put this into.") }
            throw DAVFault.forbidden(
                .caldav("calendar-collection-location-ok"), "A calendar cannot be within another one.")
        }
        guard place == nil else { throw CollectionFault.exists }
        guard caller.mayWrite, caller.own else { throw DAVFault.needsPrivileges(scene.home ?? href, "bind") }
        let (components, properties) = try await wishes(isExtended: isExtended)
        _ = try await collections.make(
            segment.string, components: components, properties: properties, for: caller)
        return Response(status: .created, headers: [.cacheControl: "no-cache"])
    }

    /// What the body says of the calendar to be made.
    private func wishes(
        isExtended: Bool
    ) async throws -> (components: [CalendarCollection.Component], properties: [StoredProperty]) {
        let all = CalendarCollection.Component.allCases
        if let type = request.headers[.contentType], !type.asciiLowercased.hasXMLType, try await hasBody {
            throw DAVFault(.unsupportedMediaType, nil, "The body has to be XML.")
        }
        guard let body = try await xml() else { return (all, []) }
        guard isExtended ? body.is(.dav, "mkcol") : body.is(.caldav, "mkcalendar") else {
            throw DAVFault(
                .unsupportedMediaType, nil, "The body is no \(isExtended ? "DAV:mkcol" : "C:mkcalendar").")
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
        guard update.protected.isEmpty else {
            throw DAVFault.forbidden(
                .dav("cannot-modify-protected-property"), "Some of these properties are set by the server alone.")
        }
        return (components, update.set)
    }

    private var hasBody: Bool {
        get async throws {
            (request.headers[.contentLength].flatMap { Int($0) } ?? 0) > 0 || request.headers[.transferEncoding] != nil
        }
    }
}

extension String {
    /// Whether a media type is XML.
    fileprivate var hasXMLType: Bool {
        let essence = (pieces(separatedBy: ";").first ?? "").withoutOuterBlanks
        return essence == "application/xml" || essence == "text/xml" || essence.hasSuffix("+xml")
    }
}
