// SPDX-License-Identifier: Apache-2.0

import Calendar
import Hummingbird
import ICalBridge
import KalendsCore
import Storage

/// Resources that meet a filter (RFC 4791 section 7.8).
///
/// Clients that send `Depth: 0`, or none, expect the members all the same.
struct CalendarQuery: Report {
    static let name = PropertyName.caldav("calendar-query")

    private let request: MemberRequest
    private let filter: CalendarFilter
    /// The clock of dates and floating times that the client names.
    private let zone: (any TimeZoneRules)?

    static func isOffered(at subject: Subject) -> Bool { CalendarMultiget.isOffered(at: subject) }

    init(body: XMLElement) throws {
        request = try MemberRequest(body)
        zone = try ReportZone.named(in: body)
        guard let filter = body.child(.caldav, "filter") else { throw DAVFault(.invalidFilter) }
        do throws(CalendarReportFault) {
            self.filter = try CalendarFilter(filter)
        } catch {
            throw DAVFault(error)
        }
    }

    func answer(_ exchange: Exchange) async throws -> Response {
        if let place = exchange.place {
            return try await exchange.multistatus(
                try pages(place, exchange), headers: exchange.preferenceApplied)
        }
        guard case .home = exchange.address, let caller = exchange.caller else { throw DAVFault.missing }
        // The members of all of the home's collections.
        let parts = try await exchange.collections.all(of: caller).map { place in
            var part = exchange
            part.place = place
            return try pages(place, part)
        }
        return try await exchange.multistatus(PagesInTurn(parts), headers: exchange.preferenceApplied)
    }

    private func pages(_ place: CollectionPlace, _ exchange: Exchange) throws -> Pages {
        Pages(
            exchange: exchange, place: place,
            answer: try request.answer(exchange, floatingIn: zone ?? place.collection.floatingZone), filter: filter)
    }

    private struct Pages: MultistatusPages {
        let exchange: Exchange
        let place: CollectionPlace
        let answer: MemberAnswer
        let filter: CalendarFilter
        private var last: String?

        init(exchange: Exchange, place: CollectionPlace, answer: MemberAnswer, filter: CalendarFilter) {
            (self.exchange, self.place, self.answer, self.filter) = (exchange, place, answer, filter)
        }

        mutating func write(to out: inout MultistatusWriter) async throws -> Bool {
            let (source, collection) = (place.source, place.collection)
            if let name = exchange.ownName {
                let found = try await source.resources(of: collection, named: [name.string])
                for resource in found { if let resource { write(resource, to: &out) } }
                return false
            }
            let component = filter.component.map { CalendarComponent(rawValue: $0) }
            // No collection keeps components of another kind.
            if case .some(nil) = component { return false }
            if filter.asksForKindAlone, !answer.needsText {
                let members = try await source.members(of: collection, after: last, limit: answer.properties.page(500))
                for member in members where component.map({ $0 == member.component }) ?? true {
                    answer.write(member, in: place, exchange, to: &out)
                }
                last = members.last?.name
                return !members.isEmpty
            }
            let found = try await source.resources(
                of: collection, component: component ?? nil, span: filter.span, after: last, limit: MemberAnswer.page)
            for resource in found { write(resource, to: &out) }
            last = found.last?.member.name
            return !found.isEmpty
        }

        private func write(_ resource: CalendarResource, to out: inout MultistatusWriter) {
            if let component = filter.component, component != resource.member.component.rawValue { return }
            guard !filter.asksForKindAlone, case .success(let text) = resource.text else {
                return answer.write(resource, in: place, exchange, to: &out)
            }
            guard let object = ReportedObject(text, floatingIn: answer.zone) else {
                let href = exchange.href(ofMember: resource.member.name)
                return out.response(href, status: 500, sentence: MemberAnswer.unreadable)
            }
            if filter.holds(for: object) { answer.write(resource, in: place, exchange, to: &out) }
        }
    }
}

extension ReportZone {
    /// Returns the clock that a report names (RFC 4791 section 9.8, RFC 7809 section 9.3); nil if it names none.
    static func named(in body: XMLElement) throws(DAVFault) -> (any TimeZoneRules)? {
        if let element = body.child(.caldav, "timezone-id") {
            guard let rules = rules(named: element.trimmed) else {
                throw .forbidden(.caldav("valid-timezone"), "There is no time zone of this name.")
            }
            return rules
        }
        guard let element = body.child(.caldav, "timezone") else { return nil }
        guard let rules = rules(ofCalendar: element.bytes, isAlone: true) else {
            throw .forbidden(.caldav("valid-calendar-data"), "The report's time zone cannot be read.")
        }
        return rules
    }
}
