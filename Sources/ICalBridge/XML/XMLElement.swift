// SPDX-License-Identifier: Apache-2.0

/// The XML namespaces that CalDAV and xCal use.
package enum XMLNamespace: Hashable, Sendable {
    case dav, caldav, calendarServer, apple, push, xCal
    /// No namespace is declared for names without a prefix.
    case undeclared
    /// A namespace that is not read here, by its name.
    case other(ByteString)

    package init(_ name: String) {
        switch name {
        case XMLElement.xCal: self = .xCal
        case "DAV:": self = .dav
        case "urn:ietf:params:xml:ns:caldav": self = .caldav
        case "http://calendarserver.org/ns/": self = .calendarServer
        case "http://apple.com/ns/ical/": self = .apple
        case "https://bitfire.at/webdav-push": self = .push
        default: self = .other(ByteString(name))
        }
    }

    /// The namespace's name; empty for none.
    package var text: String {
        switch self {
        case .dav: "DAV:"
        case .caldav: "urn:ietf:params:xml:ns:caldav"
        case .calendarServer: "http://calendarserver.org/ns/"
        case .apple: "http://apple.com/ns/ical/"
        case .push: "https://bitfire.at/webdav-push"
        case .xCal: XMLElement.xCal
        case .undeclared: ""
        case .other(let name): name.string
        }
    }
}

/// An element of an XML text.
package struct XMLElement: Sendable {
    package var namespace: XMLNamespace
    /// The name without its prefix.
    package var name: String
    /// The attributes without a prefix.
    package var attributes: [(name: String, value: String)] = []
    /// All character data directly within it, in UTF-8 and unchanged, such as a calendar object that is written back.
    package var bytes: [UInt8] = []
    package var children: [XMLElement] = []
    /// How it was written, where the reader keeps that.
    package var source: XMLSource?

    package static let xCal = "urn:ietf:params:xml:ns:icalendar-2.0"

    /// Whether it belongs to a vocabulary other than xCal's; without any declaration it is xCal's.
    var isForeign: Bool { namespace != .xCal && namespace != .undeclared }

    /// The first child with this name in xCal.
    subscript(_ name: String) -> XMLElement? { children.first { $0.name == name && !$0.isForeign } }

    package func `is`(_ namespace: XMLNamespace, _ name: String) -> Bool {
        self.namespace == namespace && self.name == name
    }

    /// Returns the first child with this name.
    package func child(_ namespace: XMLNamespace, _ name: String) -> XMLElement? {
        children.first { $0.is(namespace, name) }
    }

    package func children(_ namespace: XMLNamespace, _ name: String) -> [XMLElement] {
        children.filter { $0.is(namespace, name) }
    }

    package func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// The approximate bytes of memory that it takes.
    package var weight: Int {
        let own = attributes.reduce(80 + name.utf8.count + bytes.count) { $0 + 48 + $1.value.utf8.count }
        return children.reduce(own) { $0 + $1.weight }
    }

    /// The character data as text.
    package var text: String { String(fromOutside: bytes) }

    /// The text without surrounding spaces and line breaks.
    package var trimmed: String { String(fromOutside: bytes[...].trimmingSpaces) }
}

/// Why bytes are not XML that is accepted here.
package struct XMLFailure: Error, Hashable {
    /// The line of the text, from 1; nil when no single line is meant.
    package var line: Int?
    /// What was found.
    package var sentence: Sentence

    package var message: String { sentence.text }

    package init(line: Int? = nil, sentence: Sentence) { (self.line, self.sentence) = (line, sentence) }
}
