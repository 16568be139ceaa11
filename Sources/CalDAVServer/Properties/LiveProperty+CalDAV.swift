// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Storage

extension LiveProperty {
    // MARK: Principals (RFC 4791 section 6.2.1, RFC 6638 section 2.4.1)

    static let principals: [LiveProperty] = [
        LiveProperty(.caldav("calendar-home-set")) { subject, propertyContext, out in
            guard let home = propertyContext.home else { return false }
            switch subject {
            case .root, .principal, .home: out.href(home)
            case .principals, .calendars, .collection, .member: return false
            }
            return true
        },
        LiveProperty(.caldav("calendar-user-address-set")) { subject, propertyContext, out in
            guard case .principal(let person) = subject, let principal = propertyContext.principal else { return false }
            if let email = person.email { out.href("mailto:" + email) }
            out.href(principal)
            return true
        },
        LiveProperty(.caldav("calendar-user-type")) { subject, _, out in
            guard case .principal = subject else { return false }
            out.text("INDIVIDUAL")
            return true
        },
        LiveProperty(.calendarServer("email-address-set")) { subject, _, out in
            guard case .principal(let person) = subject, let email = person.email else { return false }
            out += "<CS:email-address>".utf8
            out.text(email)
            out += "</CS:email-address>".utf8
            return true
        },
        LiveProperty(.dav("alternate-URI-set")) { subject, _, out in isPrincipal(subject) },
        LiveProperty(.dav("group-member-set")) { subject, _, out in isPrincipal(subject) },
        LiveProperty(.dav("group-membership")) { subject, _, out in isPrincipal(subject) },
    ]

    private static func isPrincipal(_ subject: Subject) -> Bool { if case .principal = subject { true } else { false } }

    // MARK: Calendars (RFC 4791 sections 5.2 and 7.5.1, RFC 7809, RFC 6638)

    static let calendars: [LiveProperty] =
        [
            LiveProperty(.caldav("supported-calendar-component-set")) { subject, _, out in
                guard let collection = subject.collection else { return false }
                for component in collection.components { out += "<C:comp name=\"\(component.rawValue)\"/>".utf8 }
                return true
            },
            LiveProperty(.caldav("supported-calendar-data")) { subject, _, out in
                guard subject.collection != nil else { return false }
                out += "<C:calendar-data content-type=\"text/calendar\" version=\"2.0\"/>".utf8
                return true
            },
            LiveProperty(.caldav("supported-collation-set")) { subject, _, out in
                guard subject.collection != nil else { return false }
                for name in ["i;ascii-casemap", "i;octet", "i;unicode-casemap"] {
                    out += "<C:supported-collation>\(name)</C:supported-collation>".utf8
                }
                return true
            },
            LiveProperty(.caldav("max-resource-size")) { subject, _, out in
                guard subject.collection != nil else { return false }
                out += String(CalendarCollection.maxResourceSize).utf8
                return true
            },
            LiveProperty(.caldav("calendar-timezone-id"), isProtected: false) { subject, _, out in
                // A person who set a whole zone has set its name, too (RFC 7809 section 5.2).
                guard
                    let zone = subject.collection?.stored(.caldav("calendar-timezone")),
                    let element = try? XMLReader.read(zone), let name = ReportZone.name(ofCalendar: element.bytes)
                else { return false }
                out.text(name)
                return true
            },
        ] + settable.map { name in LiveProperty(name, isProtected: false) { _, _, _ in false } }

    /// The properties of a collection that a person may set and the server only keeps.
    private static let settable: [PropertyName] = [
        .apple("calendar-color"), .apple("calendar-order"), .caldav("calendar-description"),
        .caldav("calendar-timezone"), .caldav("schedule-calendar-transp"),
        .caldav("default-alarm-vevent-date"), .caldav("default-alarm-vevent-datetime"),
        .caldav("default-alarm-vtodo-date"), .caldav("default-alarm-vtodo-datetime"),
    ]
}
