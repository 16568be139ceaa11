// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
import FeedTokens
import ICalBridge
import Storage

/// How a circle's resources look to one person: as in a feed that shows all details, to-dos as such, and without a
/// window.
struct PersonalLook: Sendable {
    let circle: Circle
    let userID: String
    let zone: TimeZoneReference
    let names: CircleNames
    let view: InboundView
    private let builder: EntryBuilder

    init(
        of circle: Circle, for user: String, _ settings: ServerSettings, in transaction: any ReadTransaction
    ) throws {
        (self.circle, userID, zone) = (circle, user, try circle.zone)
        names = try CircleNames(circle.id, in: transaction)
        view = InboundView(
            zone: zone, kinds: settings.kinds, titlePrefix: settings.titlePrefix, level: .full,
            includesReminders: true)
        builder = EntryBuilder(
            look: FeedRenderKey(
                style: CareStyle(
                    titlePrefix: settings.titlePrefix, showsTasksAsToDos: true, showsHandoffsAsToDos: true),
                zone: zone, sequenceOffset: 0, shownChangedAt: 0, linkTemplate: settings.linkTemplate),
            names: names, kinds: settings.kinds)
    }

    var kinds: ItemKinds { view.kinds }

    /// Returns what comes before the title of such an item.
    func beginning(_ content: any ItemContent) -> String {
        content.careItem(names, in: zone).titleBeginning(CareStyle(titlePrefix: view.titlePrefix))
    }

    /// Returns the components of an item, the series itself first.
    func events(of seen: SeenItem) throws -> [Event] {
        let content = try kinds.content(of: seen.item)
        return try builder.events(
            of: seen.item, content, occurrences: seen.occurrences, isOwn: content.ownerID == userID)
    }

    /// Returns an item as its person gets it; if no text can be made from it, its text is empty.
    func shown(_ seen: SeenItem, _ parts: [PersonalParts]) -> ShownResource {
        let seen = showing(parts, of: seen)
        let item = seen.item
        let ends = seen.occurrences.map(\.endsAt).max() ?? .min
        return ShownResource(
            CircleResource(item), uid: item.uid, (try? events(of: seen)) ?? [], parts, modified: item.updatedAt,
            from: min(item.startsAt, seen.occurrences.map(\.startsAt).min() ?? .max),
            to: item.endsAt.map { max($0, ends) })
    }

    /// Returns an item in which each occurrence that a person keeps something for is listed by itself, as the series has it.
    private func showing(_ parts: [PersonalParts], of seen: SeenItem) -> SeenItem {
        let known = Set(seen.occurrences.map { ByteString($0.originalStart) })
        let starts = parts.compactMap(\.original).map { Instant(seconds: $0) }.filter {
            !known.contains(ByteString($0.basic))
        }
        guard !starts.isEmpty, let series = try? kinds.content(of: seen.item) as? AppointmentContent,
            let places = series.occurrences(among: starts, in: series.zone(or: zone))
        else { return seen }
        let more = starts.filter { places.contains($0) }.compactMap { start -> ChangedOccurrence? in
            var own = OccurrenceContent(at: start, of: series)
            own.status = series.status
            return (try? own.stored()).map {
                ChangedOccurrence(
                    circleID: seen.item.circleID, itemID: seen.item.id, originalStart: start.basic,
                    startsAt: own.startAt.milliseconds, endsAt: own.endAt.milliseconds, content: $0)
            }
        }
        return SeenItem(seen.item, (seen.occurrences + more).sorted { $0.originalStart.isTextBefore($1.originalStart) })
    }

    /// Returns nil for a series that this person does not see, for one that another one already shows, and for journal
    /// entries, for which circles have no collection.
    func shown(_ series: ImportedSeries, _ parts: (String) -> [PersonalParts]) -> ShownResource? {
        guard let resource = CircleResource(series), isSeen(series) else { return nil }
        let ends = series.events.map { $0.record.endsAt ?? .max }.max() ?? .max
        return ShownResource(
            resource, uid: series.shownUID, builder.events(of: series), parts(series.shownUID),
            modified: series.events.map(\.updatedAt).max() ?? 0, from: series.startsAt,
            to: ends == .max ? nil : ends)
    }

    private func isSeen(_ series: ImportedSeries) -> Bool {
        !series.isRepeated && series.kind != .journal
            && series.privateTo.allSatisfy { $0.map { $0.isSameText(as: userID) } ?? false }
    }
}

/// A resource as one person gets it.
struct ShownResource: Sendable {
    let resource: CircleResource
    let uid: String
    let component: CalendarComponent
    private(set) var text: [UInt8]
    /// The length of the text in bytes.
    let size: Int
    let etag: ContentHash
    /// In seconds since 1970.
    let modified: Int
    /// When it may have something, alarms included, in seconds since 1970.
    let span: ClosedRange<Int>

    /// How long before an event a person's own alarm may be, in seconds.
    private static let longestLead = 28 * 86_400

    /// - Parameters:
    ///   - modified: in milliseconds since 1970, like the next two.
    ///   - to: nil for a series without an end.
    init(
        _ resource: CircleResource, uid: String, _ events: [Event], _ parts: [PersonalParts], modified: Int, from: Int,
        to: Int?
    ) {
        (self.resource, self.uid, self.modified) = (resource, uid, modified / 1000)
        component = events.first?.kind == .toDo ? .task : .event
        text = events.isEmpty ? [] : PersonalParts.text(ICalendar(events: events).serialized(), with: parts)
        size = text.count
        etag = ContentHash(of: SHA256.hash(data: text))
        // A to-do without a date is one at all times.
        guard events.contains(where: { $0.start != nil || $0.end != nil }) else {
            span = .min...(.max)
            return
        }
        let slack = EntrySpan.slack / 1000
        let lead = parts.isEmpty && events.allSatisfy(\.alarms.isEmpty) ? 0 : Self.longestLead
        let end = to.map { $0 / 1000 + slack } ?? .max
        let start = from / 1000 - slack - lead
        span = start...max(start, end)
    }

    var withoutText: ShownResource {
        var shown = self
        shown.text = []
        return shown
    }

    func member(_ name: String) -> CalendarMember {
        CalendarMember(name: name, etag: etag.text, size: size, component: component, modified: modified)
    }
}
