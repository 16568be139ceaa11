// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// A privilege (RFC 3744 section 3, RFC 4791 section 6.1.1), with those that are parts of it.
struct Privilege: Sendable {
    let name: PropertyName
    let about: String
    var parts: [Privilege] = []

    static let read = Privilege(
        name: .dav("read"), about: "Read",
        parts: [
            Privilege(name: .dav("read-current-user-privilege-set"), about: "Read one's own privileges"),
            Privilege(name: .caldav("read-free-busy"), about: "Read when somebody is busy"),
        ])
    static let write = Privilege(
        name: .dav("write"), about: "Write",
        parts: [
            Privilege(name: .dav("write-properties"), about: "Change properties"),
            Privilege(name: .dav("write-content"), about: "Change existing entries"),
            Privilege(name: .dav("bind"), about: "Add"),
            Privilege(name: .dav("unbind"), about: "Remove"),
        ])
    static let all = Privilege(
        name: .dav("all"), about: "Everything",
        parts: [read, Privilege(name: .dav("read-acl"), about: "Read access rights"), write])

    /// What the caller may do with a resource.
    ///
    /// Properties of a collection that is only read are kept for their person all the same, but apps would take it for
    /// one that they may write to.
    static func granted(at subject: Subject, _ propertyContext: PropertyContext) -> [Privilege] {
        let reading = [read] + read.parts + [all.parts[1]]
        switch subject {
        case .collection(let collection), .member(_, let collection):
            return collection.mayWrite ? reading + [write] + write.parts : reading
        case .home: return propertyContext.mayMake ? reading + [write] + write.parts : reading
        case .root, .principals, .principal, .calendars: return reading
        }
    }

    /// Writes a `DAV:supported-privilege` (RFC 3744 section 5.3).
    func writeSupported(to out: inout [UInt8]) {
        out += "<D:supported-privilege><D:privilege>".utf8
        out += name.tags.empty
        out += "</D:privilege><D:description xml:lang=\"en\">".utf8
        out.text(about)
        out += "</D:description>".utf8
        for part in parts { part.writeSupported(to: &out) }
        out += "</D:supported-privilege>".utf8
    }
}
