// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// The name of a property, a report, a component of an error: a namespace and a local name.
struct PropertyName: Hashable, Sendable {
    let namespace: XMLNamespace
    let name: ByteString

    init(_ namespace: XMLNamespace, _ name: ByteString) {
        // `xmlns=""` states what holds without any declaration.
        self.namespace = namespace.text.isEmpty ? .undeclared : namespace
        self.name = name
    }

    init(_ element: XMLElement) { self.init(element.namespace, ByteString(element.name)) }

    init(_ stored: StoredProperty) { self.init(XMLNamespace(stored.namespace), ByteString(stored.name)) }

    static func dav(_ name: ByteString) -> PropertyName { PropertyName(.dav, name) }
    static func caldav(_ name: ByteString) -> PropertyName { PropertyName(.caldav, name) }
    static func calendarServer(_ name: ByteString) -> PropertyName { PropertyName(.calendarServer, name) }
    static func apple(_ name: ByteString) -> PropertyName { PropertyName(.apple, name) }
    static func push(_ name: ByteString) -> PropertyName { PropertyName(.push, name) }

    /// The declarations of the prefixes that answers use, for their root element.
    static let declarations =
        " xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:CS=\"http://calendarserver.org/ns/\""
        + " xmlns:A=\"http://apple.com/ns/ical/\" xmlns:P=\"https://bitfire.at/webdav-push\""

    /// The tags of an element with this name, within a root that has the declarations.
    var tags: (start: [UInt8], end: [UInt8], empty: [UInt8]) {
        let (tag, declaration) =
            switch namespace {
            case .dav: ("D:\(name)", "")
            case .caldav: ("C:\(name)", "")
            case .calendarServer: ("CS:\(name)", "")
            case .apple: ("A:\(name)", "")
            case .push: ("P:\(name)", "")
            case .undeclared: ("\(name)", "")
            case .xCal, .other: ("X:\(name)", " xmlns:X=\"\(Self.escaped(namespace.text))\"")
            }
        return (Array("<\(tag)\(declaration)>".utf8), Array("</\(tag)>".utf8), Array("<\(tag)\(declaration)/>".utf8))
    }

    private static func escaped(_ text: String) -> String {
        var safe: [UInt8] = []
        XMLElement.write(text, to: &safe)
        return String(fromOutside: safe).replacing("\"", with: "&quot;")
    }
}
