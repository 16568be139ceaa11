// SPDX-License-Identifier: Apache-2.0

import Calendar
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore

/// What a report asks for about each resource in its answer: properties, and its text or a part of it.
struct MemberRequest: Sendable {
    private let properties: PropertyRequest
    private let data: CalendarDataRequest?

    /// - Parameter body: the root element of the report.
    init(_ body: XMLElement) throws {
        properties = try PropertyRequest(body, isMinimal: false)
        do throws(CalendarReportFault) {
            data = try PropertyRequest.elements(body).first { $0.is(.caldav, "calendar-data") }
                .map(CalendarDataRequest.init)
        } catch {
            throw DAVFault(error)
        }
    }

    /// - Parameter zone: the clock of dates and floating times.
    func answer(_ exchange: Exchange, floatingIn zone: any TimeZoneRules) -> MemberAnswer {
        var (properties, data) = (properties, data)
        properties.isMinimal = exchange.isMinimal
        if exchange.request.headers[.caldavTimezones]?.withoutOuterBlanks == "F" { data?.hasKnownZones = false }
        return MemberAnswer(properties: properties, data: data, zone: zone)
    }
}

/// Writes the response of each resource of a report.
struct MemberAnswer: Sendable {
    let properties: PropertyRequest
    let data: CalendarDataRequest?
    let zone: any TimeZoneRules

    /// Whether the texts of the resources are asked for.
    var needsText: Bool { data != nil }

    /// The resources whose texts are in memory at a time.
    static let page = 50

    func write(
        _ member: CalendarMember, in place: CollectionPlace, _ exchange: Exchange, to out: inout MultistatusWriter
    ) {
        out.response(exchange.href(ofMember: member.name), properties, of: .member(member, of: place.collection))
    }

    /// Writes a resource with its text. One that cannot be read is a response of its own, and its neighbours are
    /// answered all the same.
    func write(
        _ resource: CalendarResource, in place: CollectionPlace, _ exchange: Exchange, to out: inout MultistatusWriter
    ) {
        guard let data else { return write(resource.member, in: place, exchange, to: &out) }
        let href = exchange.href(ofMember: resource.member.name)
        switch resource.text {
        case .failure(let refusal): out.response(href, status: 500, sentence: refusal.detail)
        case .success(let text):
            do throws(CalendarReportFault) {
                guard let part = try data.text(of: text, floatingIn: zone) else {
                    out.response(href, status: 500, sentence: Self.unreadable)
                    return
                }
                out.response(href, properties, of: .member(resource.member, of: place.collection)) { asked in
                    asked == .caldav("calendar-data") ? Self.element(part) : nil
                }
            } catch {
                out.response(
                    href, status: 500, condition: .dav("number-of-matches-within-limits"),
                    sentence: "The series has more occurrences in this span than one answer may have.")
            }
        }
    }

    static let unreadable = "This resource cannot be read."

    /// Returns a `C:calendar-data` with a text.
    private static func element(_ text: [UInt8]) -> [UInt8] {
        var out = Array("<C:calendar-data>".utf8)
        out.reserveCapacity(text.count + text.count / 8 + 64)
        out.characters(text)
        out += "</C:calendar-data>".utf8
        return out
    }
}

extension [UInt8] {
    /// Writes character data without the characters that XML 1.0 cannot hold; a return stays one.
    mutating func characters(_ text: [UInt8]) {
        // Most texts are UTF-8 without U+FFFE and U+FFFF, and are written byte by byte.
        guard !text.contains(0xEF), (try? UTF8Span(validating: text.span)) != nil else {
            return self.text(String(fromOutside: text))
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "&"): self += "&amp;".utf8
            case UInt8(ascii: "<"): self += "&lt;".utf8
            case UInt8(ascii: ">"): self += "&gt;".utf8
            case 13: self += "&#13;".utf8
            case 0..<32 where byte != 9 && byte != 10: break
            default: append(byte)
            }
        }
    }
}

extension DAVFault {
    init(_ fault: CalendarReportFault) {
        switch fault {
        case .invalidFilter: self = .forbidden(.caldav("valid-filter"), "The filter cannot be read.")
        case .unsupportedFilter:
            self = .forbidden(.caldav("supported-filter"), "The filter asks for something that is not compared here.")
        case .unsupportedCollation:
            self = .forbidden(.caldav("supported-collation"), "This server does not compare texts by this collation.")
        case .unsupportedCalendarData:
            self = .forbidden(.caldav("supported-calendar-data"), "Data is returned only as text/calendar 2.0.")
        case .invalidRequest:
            self = .badRequest("Calendar data or a time-range is requested in a way that the RFC does not have.")
        case .tooMuch:
            self = .forbidden(
                .dav("number-of-matches-within-limits"),
                "A series has more occurrences in this span than one answer may have."
            )
        }
    }
}

extension CalendarCollection {
    /// The clock of dates and floating times, where the collection's person set one (RFC 4791 section 5.2.2).
    var floatingZone: any TimeZoneRules {
        if let element = stored(.caldav("calendar-timezone-id")).flatMap({ try? XMLReader.read($0) }),
            let rules = ReportZone.rules(named: element.trimmed)
        {
            return rules
        }
        if let element = stored(.caldav("calendar-timezone")).flatMap({ try? XMLReader.read($0) }),
            let rules = ReportZone.rules(ofCalendar: element.bytes)
        {
            return rules
        }
        return FixedOffset.utc
    }
}

extension HTTPField.Name {
    /// RFC 7809 section 7.1.
    static let caldavTimezones = HTTPField.Name("CalDAV-Timezones") ?? .from
}
