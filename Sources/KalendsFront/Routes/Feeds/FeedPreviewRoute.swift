// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore

/// The entries of a feed and, for each item left out, the rule that excludes it.
struct FeedPreviewRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.feeds)
        let day = Schema.string.described("A day or a time.")
        routes.on(
            .get, "/v1/feeds/{id}/preview",
            Operation(
                "previewFeed", "Preview what a feed shows, and which rules leave out the rest", .feed, .scope(.feeds),
                details: """
                    The rules are these: \(Exclusion.allCases.map(\.documented).joined(separator: ", ")). A part ends early at 4 MiB; \
                    `nextCursor` continues it.
                    """,
                query: [
                    .init(name: "from", schema: day), .init(name: "to", schema: day),
                    .init(name: "cursor", schema: Schema.string.described("`nextCursor` of the previous part.")),
                ],
                [.ok(.named("FeedPreview"))]), preview)
    }

    private func preview(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let start = min(max(0, try Page(request, context).number ?? 0), Int.max / 2)
        let preview = try await FeedPreview.of(
            id, for: caller, days: Self.days(request), .init(start: start, bytes: PageText.mostBytes),
            services.feedContext)
        defer { withExtendedLifetime(preview) {} }
        return .json(text: try preview.text(from: start, context.memory.answer))
    }

    private static func days(_ request: Request) -> FeedPreview.Days {
        var days = FeedPreview.Days()
        func bound(_ name: String) -> FeedPreview.Bound? {
            guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
            if let date = CivilDate(iso: text) { return .day(date) }
            if let instant = Instant(rfc3339: text) { return .moment(instant) }
            days.faults.append(
                Fault(
                    pointer: "/query/\(name)", code: .invalidTime,
                    message: "This must be a day, or a time as RFC 3339 writes it."))
            return nil
        }
        let (from, to) = (bound("from"), bound("to"))
        (days.from, days.to) = (from, to)
        return days
    }
}

extension Exclusion {
    /// Its name in the API, with what the name does not say.
    fileprivate var documented: String {
        let name = "`\(rawValue)`"
        return switch self {
        case .kind, .patient, .completed, .window, .privateEvent: name
        case .costly: name + " (finding the occurrences takes too much work)"
        case .repeated: name + " (another source has the same event)"
        }
    }
}
