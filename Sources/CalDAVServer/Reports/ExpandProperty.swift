// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge

/// Properties of a resource and of those to which its properties refer (RFC 3253 section 3.8).
struct ExpandProperty: Report {
    static let name = PropertyName.dav("expand-property")

    /// A property that is asked for, with what is asked of the resources that it names.
    fileprivate struct Asked {
        let name: PropertyName
        let nested: [Asked]
    }

    private let asked: [Asked]

    /// The maximum number of levels, and the maximum number of properties on all of them.
    private static let (depth, most) = (8, 256)

    static func isOffered(at subject: Subject) -> Bool { true }

    init(body: XMLElement) throws {
        var left = Self.most
        asked = try Self.asked(in: body, depth: 1, &left)
    }

    private static func asked(
        in element: XMLElement, depth: Int, _ left: inout Int
    ) throws(DAVFault) -> [Asked] {
        guard depth <= Self.depth else { throw .badRequest("The properties are nested too deeply.") }
        var asked: [Asked] = []
        for child in element.children(.dav, "property") {
            left -= 1
            // It becomes the name of an element of the answer.
            guard left >= 0, let name = child.attribute("name"), FormName.isElement(name) else {
                throw .badRequest("A property has no name, or the request asks for more than one answer may have.")
            }
            let namespace = child.attribute("namespace").map(XMLNamespace.init) ?? .dav
            asked.append(
                Asked(
                    name: PropertyName(namespace, ByteString(name)),
                    nested: try self.asked(in: child, depth: depth + 1, &left)))
        }
        return asked
    }

    func answer(_ exchange: Exchange) async throws -> Response {
        guard try exchange.depth() ?? .zero == .zero else {
            throw DAVFault.badRequest("Depth must be 0 for this report.")
        }
        let subject = try await exchange.subject()
        var expansion = Expansion(exchange: exchange)
        let response = try await expansion.response(exchange.href, asked, of: subject)
        return try await exchange.multistatus(
            OnePage { out in out.written(response) }, headers: exchange.preferenceApplied)
    }

    /// Responses within responses.
    private struct Expansion {
        let exchange: Exchange
        /// The number of responses that may still be written, and the bytes of properties in them: a resource may name
        /// itself, and its properties may be asked for again and again.
        private var (left, bytesLeft) = (200, 1 << 20)

        init(exchange: Exchange) { self.exchange = exchange }

        mutating func response(
            _ href: String, _ asked: [Asked], of subject: Subject
        ) async throws -> [UInt8] {
            var (found, missing): ([UInt8], [UInt8]) = ([], [])
            for property in asked {
                let plain = exchange.property(property.name, of: subject)
                bytesLeft -= plain?.count ?? property.name.tags.empty.count
                guard bytesLeft >= 0 else { throw Self.tooMany }
                guard let plain else {
                    missing += property.name.tags.empty
                    continue
                }
                var nested: [UInt8] = []
                if !property.nested.isEmpty, let element = XMLElement(property: plain) {
                    nested = try await responses(element, property.nested)
                }
                let (start, end, _) = property.name.tags
                found += nested.isEmpty ? plain : start + nested + end
            }
            var out = Array("<D:response>".utf8)
            out.href(href)
            if !found.isEmpty || missing.isEmpty || exchange.isMinimal {
                out += Self.propstat(found, "200 OK")
            }
            if !missing.isEmpty, !exchange.isMinimal { out += Self.propstat(missing, "404 Not Found") }
            return out + Array("</D:response>\n".utf8)
        }

        private static let tooMany = DAVFault.badRequest(
            "The request names more resources and properties than one answer may have.")

        private static func propstat(_ properties: [UInt8], _ status: String) -> [UInt8] {
            Array("<D:propstat><D:prop>".utf8) + properties
                + Array("</D:prop><D:status>HTTP/1.1 \(status)</D:status></D:propstat>".utf8)
        }

        /// Returns a response for each resource that a property names.
        private mutating func responses(_ property: XMLElement, _ asked: [Asked]) async throws -> [UInt8] {
            var out: [UInt8] = []
            for href in property.children(.dav, "href").map(\.trimmed) {
                left -= 1
                guard left >= 0 else { throw Self.tooMany }
                guard let address = exchange.paths.address(href: href) else { continue }
                if let subject = try await exchange.subject(at: address) {
                    out += try await response(exchange.paths.href(address), asked, of: subject)
                } else {
                    out += "<D:response>".utf8
                    out.href(href)
                    out += "<D:status>HTTP/1.1 404 Not Found</D:status></D:response>".utf8
                }
            }
            return out
        }
    }
}
