// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// The kinds of entries in a calendar.
public enum EntryKind: String, Sendable, CaseIterable {
    case task, shift, appointment, followUp, imported, personal, planned, office

    var word: String { "kind_" + rawValue }
    var words: String { "kinds_" + rawValue }
}

/// A person or patient that a form offers.
public struct Named: Sendable {
    public var id: String
    public var name: String

    public init(id: String, name: String) {
        (self.id, self.name) = (id, name)
    }
}

extension TimeSpan? {
    func firstDay(in zone: PageZone) -> CivilDate {
        switch self {
        case .timed(let start, _, _): zone.local(start.milliseconds).day
        case .days(let first, _): first
        case nil: zone.local(0).day
        }
    }

    func lastDay(in zone: PageZone) -> CivilDate {
        switch self {
        case .timed(let start, let end, _): zone.local(max(start.milliseconds, end.milliseconds - 1)).day
        case .days(let first, let until): TimeSpan.last(from: first, until: until)
        case nil: zone.local(0).day
        }
    }
}

/// One event in calendars, lists and previews.
public struct PageEntry: Sendable {
    public var kind: EntryKind
    /// The path of the event's page below `/app`; nil if it has none.
    public var path: String?
    public var title: String
    /// Nil for something to do, whenever that is.
    public var span: TimeSpan?
    public var isCancelled: Bool

    public init(kind: EntryKind, path: String? = nil, title: String, span: TimeSpan?, isCancelled: Bool = false) {
        (self.kind, self.path, self.title, self.span, self.isCancelled) = (kind, path, title, span, isCancelled)
    }

    /// Whether it ends before a day.
    public func isOver(before day: CivilDate, in zone: PageZone) -> Bool { span.lastDay(in: zone) < day }
}

extension RenderContext {
    /// A text such as "9:00 am – 10:00 am" or "all day"; with dates if the event spans several days.
    func span(_ span: TimeSpan?) -> String {
        switch span {
        case nil: return words["spanOpen"]
        case .days(let first, let until):
            let last = TimeSpan.last(from: first, until: until)
            return first == last
                ? words["spanAllDay"] : words("spanDays", ["from": times.date(first), "to": times.date(last)])
        case .timed(let from, let to, _):
            let (start, end) = (times.zone.local(from.milliseconds), times.zone.local(to.milliseconds))
            guard start.day != end.day else {
                return from == to ? times.clock(start) : times.clocks(start, end)
            }
            return words("spanAcross", ["from": times.dayAndClock(start), "to": times.dayAndClock(end)])
        }
    }

    /// The day and the hours; both ends if the event spans several days.
    func when(_ span: TimeSpan?, _ day: (CivilDate) -> String) -> String {
        let hours = self.span(span)
        guard span != nil else { return hours }
        let first = span.firstDay(in: times.zone)
        return first == span.lastDay(in: times.zone) ? words("itemWhen", ["day": day(first), "span": hours]) : hours
    }

    func chip(_ entry: PageEntry, on day: CivilDate? = nil) -> Node {
        var clock: String?
        if case .timed(let start, _, _) = entry.span {
            let local = times.zone.local(start.milliseconds)
            if day == nil || local.day == day { clock = times.clock(local) }
        }
        return [
            "kind": .text(entry.kind.rawValue), "kindWord": .text(words[entry.kind.word]),
            "href": .text(entry.path.map(href)), "title": .text(entry.title.isEmpty ? words["untitled"] : entry.title),
            "clock": .text(clock), "span": .text(span(entry.span)), "isCancelled": .flag(entry.isCancelled),
        ]
    }

    /// A list of days with their entries, for the template `agenda`.
    ///
    /// - Parameters:
    ///   - isWhole: false where there are more entries than these.
    ///   - showsKinds: false where a feed may hide what kind an entry is.
    ///   - isOnce: whether an entry over several days is listed only on the first one.
    func agenda(
        _ entries: [PageEntry], from: CivilDate, to: CivilDate, isWhole: Bool = true, showsKinds: Bool = true,
        isOnce: Bool = false
    ) -> Node {
        let days = entries.map { entry in
            let first = max(from, entry.span.firstDay(in: times.zone))
            return (first: first, last: isOnce ? first : min(to, entry.span.lastDay(in: times.zone)))
        }
        var (rows, room, isCut) = ([Node](), Self.mostInAgenda, !isWhole)
        for day in (from.daysSinceEpoch...to.daysSinceEpoch).map(CivilDate.init(daysSinceEpoch:)) {
            let own = entries.indices.filter { days[$0].first <= day && day <= days[$0].last }
            if own.count > room { isCut = true }
            guard !own.isEmpty, room > 0 else { continue }
            rows.append([
                "iso": .text(day.description), "title": .text(times.nearDate(day)), "full": .text(times.fullDate(day)),
                "isToday": .flag(day == times.today),
                "entries": .list(own.prefix(room).map { chip(entries[$0], on: day) }), "showsKinds": .flag(showsKinds),
            ])
            room -= own.count
        }
        guard !rows.isEmpty else { return .nothing }
        return ["rows": .list(rows), "part": isCut ? .text(words["agendaPart"]) : .nothing]
    }

    /// The most lines of an agenda; one entry may be on many days.
    private static let mostInAgenda = 2_000

    func fact(_ key: String, _ value: Node?) -> Node? {
        guard let value, case .map(var node) = value else { return nil }
        node["label"] = .text(words[key])
        return .map(node)
    }

    func facts(_ all: [Node?]) -> Node { .rows(all.compactMap { $0 }) }

    func choices(_ pairs: [(String, String)]) -> [Choice] { pairs.map { Choice(value: $0.0, label: words[$0.1]) } }
}

func plain(_ text: String?) -> Node? { text.map { ["text": .text($0)] } }
func named(_ text: String?) -> Node? { text.map { ["name": .text($0)] } }
func timed(_ time: Node?) -> Node? { time.map { ["time": $0] } }
