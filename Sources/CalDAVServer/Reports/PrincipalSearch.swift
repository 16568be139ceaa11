// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import NIOCore

/// Principals by their properties (RFC 3744 section 9.4): callers find themselves and nobody else.
struct PrincipalPropertySearch: Report {
    static let name = PropertyName.dav("principal-property-search")

    private let body: XMLElement
    private let conditions: [(names: [PropertyName], text: String)]
    /// Whether one condition is enough.
    private let isAny: Bool

    private static let most = 32

    static func isOffered(at subject: Subject) -> Bool {
        switch subject {
        case .root, .principals, .principal, .calendars, .home: true
        case .collection, .member: false
        }
    }

    init(body: XMLElement) throws {
        var body = body
        conditions = try body.children(.dav, "property-search").map { search in
            guard let names = search.child(.dav, "prop")?.children.map(PropertyName.init), !names.isEmpty,
                let match = search.child(.dav, "match")
            else { throw DAVFault.badRequest("A search names no property, or no text.") }
            return (names, match.trimmed.lowercased())
        }
        guard conditions.reduce(conditions.count, { $0 + $1.names.count }) <= 2 * Self.most else {
            throw DAVFault.badRequest("The report may have \(Self.most) searches at most.")
        }
        isAny = body.attribute("test") == "anyof"
        body.children.removeAll { $0.is(.dav, "property-search") || $0.is(.dav, "apply-to-principal-collection-set") }
        // Some clients name the properties that they want outside of `prop`.
        if let index = body.children.firstIndex(where: { $0.is(.dav, "prop") }) {
            var asked = body.children.remove(at: index)
            asked.children += body.children
            body.children = [asked]
        }
        self.body = body
    }

    func answer(_ exchange: Exchange) async throws -> Response {
        let request = try PropertyRequest(body, isMinimal: exchange.isMinimal)
        guard let caller = exchange.caller else { throw DAVFault.missing }
        let subject = Subject.principal(try await exchange.collections.person(of: caller))
        let href = exchange.paths.href(.principal(user: ByteString(caller.userID)))
        let met = conditions.map { condition in
            condition.names.allSatisfy { name in
                let element = exchange.property(name, of: subject).flatMap { XMLElement(property: $0) }
                return element?.allText.contains { $0.lowercased().contains(condition.text) } ?? false
            }
        }
        // A search without conditions finds everybody whom the caller may see.
        let isFound = isAny && !met.isEmpty ? met.contains(true) : met.allSatisfy(\.self)
        return try await exchange.multistatus(
            OnePage { out in if isFound { out.response(href, request, of: subject) } },
            headers: exchange.preferenceApplied)
    }
}

/// The properties by which principals are found (RFC 3744 section 9.5).
struct PrincipalSearchPropertySet: Report {
    static let name = PropertyName.dav("principal-search-property-set")

    private static let properties: [(name: PropertyName, about: String)] = [
        (.dav("displayname"), "Name"), (.calendarServer("email-address-set"), "E-mail address"),
        (.caldav("calendar-user-address-set"), "Calendar address"),
    ]

    static func isOffered(at subject: Subject) -> Bool { PrincipalPropertySearch.isOffered(at: subject) }

    init(body: XMLElement) {}

    func answer(_ exchange: Exchange) -> Response {
        var out = Array(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:principal-search-property-set\(PropertyName.declarations)>"
                .utf8)
        for (name, about) in Self.properties {
            out += "<D:principal-search-property><D:prop>".utf8
            out += name.tags.empty
            out += "</D:prop><D:description xml:lang=\"en\">".utf8
            out.text(about)
            out += "</D:description></D:principal-search-property>\n".utf8
        }
        out += "</D:principal-search-property-set>\n".utf8
        return Response(
            status: .ok, headers: [.contentType: "application/xml; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: out)))
    }
}
