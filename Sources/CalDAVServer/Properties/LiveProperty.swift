// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// A property whose value the server knows or keeps (RFC 4918 section 15).
struct LiveProperty: Sendable {
    /// Writes the content of the property's element, and returns false if the resource does not have the property.
    typealias Content = @Sendable (Subject, PropertyContext, inout [UInt8]) -> Bool

    let name: PropertyName
    /// Whether PROPPATCH cannot set it.
    let isProtected: Bool
    /// Whether a request for all properties returns it: RFC 4918's are, later ones are not.
    let isInAllprop: Bool
    let write: Content

    init(
        _ name: PropertyName, isProtected: Bool = true, isInAllprop: Bool = false, write: @escaping Content
    ) {
        (self.name, self.isProtected, self.isInAllprop, self.write) = (name, isProtected, isInAllprop, write)
    }

    /// In the order in which they are listed.
    static let all: [LiveProperty] = general + rights + principals + calendars + push

    static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    // MARK: RFC 4918, 6578

    private static let general: [LiveProperty] = [
        LiveProperty(.dav("resourcetype"), isInAllprop: true) { subject, _, out in
            switch subject {
            case .root, .principals, .calendars, .home: out += "<D:collection/>".utf8
            case .principal: out += "<D:collection/><D:principal/>".utf8
            case .collection: out += "<D:collection/><C:calendar/>".utf8
            case .member: break
            }
            return true
        },
        LiveProperty(.dav("displayname"), isProtected: false, isInAllprop: true) { subject, _, out in
            switch subject {
            case .root: out.text("Kalends")
            case .principal(let person): out.text(person.name)
            case .collection(let collection): out.text(collection.displayName)
            case .principals, .calendars, .home, .member: return false
            }
            return true
        },
        LiveProperty(.dav("getcontenttype"), isInAllprop: true) { subject, _, out in
            guard case .member(let member, _) = subject else { return false }
            out.text(member.contentType)
            return true
        },
        LiveProperty(.dav("getcontentlength"), isInAllprop: true) { subject, _, out in
            // GET of anything but a feed answers with a sentence, whose length it has, too (RFC 4918 section 15.4).
            guard subject.collection?.isFeed != true else { return false }
            let size = if case .member(let member, _) = subject { member.size } else { Exchange.about.utf8.count }
            out += String(size).utf8
            return true
        },
        LiveProperty(.dav("getetag"), isInAllprop: true) { subject, _, out in
            guard case .member(let member, _) = subject else { return false }
            out.append(UInt8(ascii: "\""))
            out.text(member.etag)
            out.append(UInt8(ascii: "\""))
            return true
        },
        LiveProperty(.dav("getlastmodified"), isInAllprop: true) { subject, _, out in
            guard case .member(let member, _) = subject else { return false }
            out += Instant(seconds: member.modified).httpDate.utf8
            return true
        },
        LiveProperty(.dav("sync-token"), write: token), LiveProperty(.calendarServer("getctag"), write: token),
        LiveProperty(.dav("supported-report-set")) { subject, _, out in
            for report in Reports.all where report.isOffered(at: subject) {
                out += "<D:supported-report><D:report>".utf8
                out += report.name.tags.empty
                out += "</D:report></D:supported-report>".utf8
            }
            return true
        },
    ]

    private static let token: Content = { subject, propertyContext, out in
        guard let collection = subject.collection else { return false }
        out.text(propertyContext.tokens.token(of: collection))
        return true
    }

    // MARK: RFC 3744, 5397

    private static let rights: [LiveProperty] = [
        LiveProperty(.dav("current-user-principal")) { _, propertyContext, out in
            if let principal = propertyContext.principal {
                out.href(principal)
            } else {
                out += "<D:unauthenticated/>".utf8
            }
            return true
        },
        LiveProperty(.dav("principal-URL")) { _, propertyContext, out in
            // It is asked for on every resource, not only on principals.
            guard let principal = propertyContext.principal else { return false }
            out.href(principal)
            return true
        },
        LiveProperty(.dav("principal-collection-set")) { _, propertyContext, out in
            guard propertyContext.user != nil else { return false }
            out.href(propertyContext.paths.href(.principals))
            return true
        },
        LiveProperty(.dav("owner")) { subject, propertyContext, out in
            guard let principal = propertyContext.principal else { return false }
            switch subject {
            case .home, .collection, .member, .principal: out.href(principal)
            case .root, .principals, .calendars: return false
            }
            return true
        },
        LiveProperty(.dav("current-user-privilege-set")) { subject, propertyContext, out in
            writeGranted(at: subject, propertyContext, to: &out)
            return true
        },
        LiveProperty(.dav("supported-privilege-set")) { _, _, out in
            Privilege.all.writeSupported(to: &out)
            return true
        },
        LiveProperty(.dav("acl")) { subject, propertyContext, out in
            guard let principal = propertyContext.principal else { return false }
            out += "<D:ace><D:principal>".utf8
            out.href(principal)
            out += "</D:principal><D:grant>".utf8
            writeGranted(at: subject, propertyContext, to: &out)
            out += "</D:grant><D:protected/></D:ace>".utf8
            return true
        },
        LiveProperty(.dav("acl-restrictions")) { _, _, out in
            out += "<D:grant-only/><D:no-invert/>".utf8
            return true
        },
        LiveProperty(.dav("inherited-acl-set")) { _, _, _ in true },
    ]

    private static func writeGranted(at subject: Subject, _ propertyContext: PropertyContext, to out: inout [UInt8]) {
        for privilege in Privilege.granted(at: subject, propertyContext) {
            out += "<D:privilege>".utf8
            out += privilege.name.tags.empty
            out += "</D:privilege>".utf8
        }
    }
}

extension CalendarMember {
    var contentType: String { "text/calendar;charset=utf-8" }
}
