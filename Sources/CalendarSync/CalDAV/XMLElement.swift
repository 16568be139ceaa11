// SPDX-License-Identifier: Apache-2.0

/// The XML namespaces that a CalDAV server's answers use.
enum XMLNamespace: Hashable, Sendable {
    case dav, caldav, calendarServer, apple
    /// No namespace, or one that is not read here.
    case other

    init(_ name: String) {
        switch name {
        case "DAV:": self = .dav
        case "urn:ietf:params:xml:ns:caldav": self = .caldav
        case "http://calendarserver.org/ns/": self = .calendarServer
        case "http://apple.com/ns/ical/": self = .apple
        default: self = .other
        }
    }
}

/// An element of a server's answer.
struct XMLElement: Sendable {
    var namespace: XMLNamespace
    /// The name without its prefix, as it was written.
    var name: String
    /// The attributes without a prefix.
    var attributes: [(name: String, value: String)] = []
    /// All character data directly within it.
    var text = ""
    var children: [XMLElement] = []

    func `is`(_ namespace: XMLNamespace, _ name: String) -> Bool { self.namespace == namespace && self.name == name }

    /// Returns the first child with this name.
    func child(_ namespace: XMLNamespace, _ name: String) -> XMLElement? {
        children.first { $0.is(namespace, name) }
    }

    func children(_ namespace: XMLNamespace, _ name: String) -> [XMLElement] {
        children.filter { $0.is(namespace, name) }
    }

    func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// The approximate bytes of memory that it takes.
    var weight: Int {
        let own = attributes.reduce(80 + name.utf8.count + text.utf8.count) { $0 + 48 + $1.value.utf8.count }
        return children.reduce(own) { $0 + $1.weight }
    }

    /// The text without surrounding spaces and line breaks.
    var trimmed: String {
        var bytes = Array(text.utf8)[...]
        while let first = bytes.first, first <= 32 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last <= 32 { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text of each `DAV:href` within it.
    var hrefs: [String] { children(.dav, "href").map(\.trimmed) }
}

/// Why bytes are not XML that is accepted here.
struct XMLFailure: Error, Hashable {
    var message: String
}
