// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

extension FeedReadingRoutes {
    /// Shows a feed to the person who opened its address in a browser: an agenda of what the feed shows, or a month.
    ///
    /// It is counted as a read by a browser before it is sent, and ends with the feed.
    func agenda(
        of token: Secret, now: Int, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (resolution, owner) = try await services.ledger.resolve(token, now: now) { open, _, _ in open.feed.userID }
        switch resolution {
        case .unknown: return try await miss(request, context)
        case .ended: return refused(.feedEnded, .gone, request, now)
        case .live: break
        }
        let query = request.uri.queryParameters
        let view: AgendaPage.View = query["view"].map { $0 == "month" } == true ? .month : .agenda
        let chosen = query["date"].flatMap { CalendarPage.day(String($0)) }
        let shown: FeedAgenda
        do {
            shown = try await services.feedReading.agenda(of: token, ownedBy: owner, now: now) { today in
                let days = view.days(from: chosen ?? today)
                return (days.lowerBound, days.upperBound.adding(days: 1))
            }
        } catch is FeedReading.Ended {
            return refused(.feedEnded, .gone, request, now)
        }
        let front = PageFront(settings: services.settings)
        var frame = front.frame(for: request, now: now)
        frame.zone = PageZone(shown.zone)
        frame.path = request.uri.path
        var page = AgendaPage(
            name: shown.name, lastDay: shown.lastDay, view: view, day: chosen ?? frame.zone.local(now).day,
            entries: shown.occurrences.map { PageEntry($0, shown.zone) })
        page.isWhole = shown.isComplete
        // Calendar providers show nothing in a frame, and whoever added a former address would lose it soon.
        if shown.lastDay == nil, request.headers[.secFetchDest] != "iframe" {
            let links = services.settings.links(token, name: shown.name)
            (page.url, page.links) = (links.url, links.apps)
        }
        if request.method != .head {
            try await count(
                FeedAccess(
                    feed: shown.live.number, at: now, client: ClientFamily.browser.code, status: 200,
                    network: network(request, context), version: shown.live.version.circleVersion), context)
        }
        let coding = ContentCoding(acceptEncoding: request.headers[values: .acceptEncoding], from: .browser)
        var answer = try await LongWork.run(for: context.sender) { [frame, page] in
            front.response(page.rendered(frame), status: .ok, as: coding, framedBy: shown.embedOrigins)
        }
        FeedAnswer.eachSecretPageField { answer.headers[$0] = $1 }
        answer.headers[.vary] = "Accept, Accept-Encoding, Accept-Language, User-Agent"
        return request.method == .head ? answer.createHeadResponse() : answer
    }

    /// The page that a person sees where an address shows no feed.
    func refused(
        _ kind: ErrorPage.Kind, _ status: HTTPResponse.Status, _ request: Request, _ now: Int
    ) -> Response {
        let front = PageFront(settings: services.settings)
        var answer = front.response(
            // Whoever showed the feed in a frame goes on showing that it is gone; there is nothing to press.
            ErrorPage(kind: kind).rendered(front.frame(for: request, now: now)), status: status, framedBy: ["*"])
        answer.headers[.cacheControl] = "no-store"
        FeedAnswer.eachSecretPageField { answer.headers[$0] = $1 }
        return request.method == .head ? answer.createHeadResponse() : answer
    }
}

extension PageEntry {
    /// An event as a feed shows it, which may hide its kind.
    fileprivate init(_ occurrence: Occurrence, _ zone: TimeZoneReference) {
        self.init(
            kind: .imported, title: occurrence.event.summary ?? "", span: occurrence.span(in: zone),
            isCancelled: occurrence.isCancelled)
    }
}
