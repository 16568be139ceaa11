// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import NIOCore
import Storage

/// When a person is busy (RFC 4791 section 7.10).
struct FreeBusyQuery: Report {
    static let name = PropertyName.caldav("free-busy-query")

    private let range: TimeRange

    static func isOffered(at subject: Subject) -> Bool {
        CalendarMultiget.isOffered(at: subject)
    }

    init(body: XMLElement) throws {
        guard let range = body.child(.caldav, "time-range").flatMap({ TimeRange($0, isOpen: false) }) else {
            throw DAVFault.badRequest("The report needs a time-range with a start and an end in UTC.")
        }
        self.range = range
    }

    func answer(_ exchange: Exchange) async throws -> Response {
        var places: [CollectionPlace] = []
        if let place = exchange.place {
            places = [place]
        } else if let caller = exchange.caller {
            places = try await exchange.collections.all(of: caller).filter { !$0.collection.isTransparent }
        }
        var time = FreeBusyTime(in: range)
        for place in places where place.collection.components.contains(.event) {
            try await add(place, exchange, to: &time)
        }
        let text = time.text(stamp: Instant(seconds: exchange.services.now() / 1000))
        return Response(
            status: .ok, headers: [.contentType: "text/calendar; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }

    private static let tooLong = DAVFault(
        .insufficientSpace, .dav("number-of-matches-within-limits"),
        "Looking at everything in this span takes too long. Ask for a shorter one.")

    private func add(_ place: CollectionPlace, _ exchange: Exchange, to time: inout FreeBusyTime) async throws {
        let (zone, name) = (place.collection.floatingZone, exchange.ownName)
        var last: String?
        while true {
            let found: [CalendarResource]
            if let name {
                found = try await place.source.resources(of: place.collection, named: [name.string]).compactMap(\.self)
            } else {
                found = try await place.source.resources(
                    of: place.collection, component: .event, span: range.seconds, after: last,
                    limit: MemberAnswer.page)
            }
            try await exchange.each(found) { resource in
                guard case .success(let text) = resource.text else { return }
                do throws(CalendarReportFault) {
                    try time.add(text, floatingIn: zone)
                } catch {
                    throw DAVFault(error)
                }
            }
            guard !exchange.isUsedUp else { throw Self.tooLong }
            last = found.last?.member.name
            if name != nil || found.isEmpty { return }
        }
    }
}

extension CalendarCollection {
    /// Whether its contents do not make its person busy (RFC 6638 section 9.1).
    fileprivate var isTransparent: Bool {
        stored(.caldav("schedule-calendar-transp")).flatMap { try? XMLReader.read($0) }?
            .child(.caldav, "transparent") != nil
    }
}
