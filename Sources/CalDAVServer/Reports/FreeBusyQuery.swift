// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import NIOCore
import Storage

/// When a person is busy (RFC 4791 section 7.10).
struct FreeBusyQuery: Report {
    static let name = PropertyName.caldav("free-busy-query")

    private let range: ReportRange

    static func isOffered(at subject: Subject) -> Bool {
        CalendarMultiget.isOffered(at: subject)
    }

    init(body: XMLElement) throws {
        guard let range = body.child(.caldav, "time-range").flatMap({ ReportRange($0, isOpen: false) }) else {
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
            try await add(place, only: exchange.ownName, to: &time)
        }
        let text = time.text(stamp: Instant(seconds: exchange.services.now() / 1000))
        return Response(
            status: .ok, headers: [.contentType: "text/calendar; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: text)))
    }

    private func add(_ place: CollectionPlace, only name: ByteString?, to time: inout FreeBusyTime) async throws {
        let zone = place.collection.floatingZone
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
            for resource in found {
                guard case .success(let text) = resource.text else { continue }
                do throws(CalendarReportFault) {
                    try time.add(text, floatingIn: zone)
                } catch {
                    throw DAVFault(error)
                }
            }
            last = found.last?.member.name
            if name != nil || found.isEmpty { return }
        }
    }
}

extension CalendarCollection {
    /// Whether its person is not busy by what is in it (RFC 6638 section 9.1).
    fileprivate var isTransparent: Bool {
        stored(.caldav("schedule-calendar-transp")).flatMap { try? XMLReader.read($0) }?
            .child(.caldav, "transparent") != nil
    }
}
