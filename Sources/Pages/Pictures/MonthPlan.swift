// SPDX-License-Identifier: Apache-2.0

import Calendar

/// Where a month's entries are drawn: one over several days is a bar, which keeps its row on all days of a week.
struct MonthPlan {
    /// A row of a day's cell.
    enum Row {
        /// A bar that begins here, or at the start of this week, and covers some days of this week.
        case bar(PageEntry, days: Int, isLater: Bool, goesOn: Bool)
        /// Room for a bar that began on an earlier day, or for none.
        case free
    }

    struct Day {
        var bars: [Row] = []
        /// The entries of only this day.
        var single: [PageEntry] = []
        /// How many entries have no room.
        var hidden = 0

        var isEmpty: Bool {
            single.isEmpty && hidden == 0
                && !bars.contains { if case .bar = $0 { true } else { false } }
        }
    }

    /// A cell has this many rows; if they do not suffice, the last one leads to all entries of the day.
    private static let rows = 4

    private var days: [Int: Day] = [:]

    subscript(day: CivilDate) -> Day { days[day.daysSinceEpoch] ?? Day() }

    /// - Parameter weeks: whole weeks.
    init(_ entries: [PageEntry], weeks: ClosedRange<CivilDate>, in zone: PageZone) {
        let spans = entries.map { entry in
            (entry: entry, first: entry.span.firstDay(in: zone), last: entry.span.lastDay(in: zone))
        }
        for span in spans where span.first >= span.last && weeks.contains(span.first) {
            days[span.first.daysSinceEpoch, default: Day()].single.append(span.entry)
        }
        let long = spans.filter { $0.first < $0.last }
        var first = weeks.lowerBound
        while first <= weeks.upperBound {
            let last = first.adding(days: 6)
            addBars(long.filter { $0.first <= last && $0.last >= first }, from: first, to: last)
            first = first.adding(days: 7)
        }
        for number in days.keys { days[number]?.fit(rows: Self.rows) }
    }

    private mutating func addBars(
        _ spans: [(entry: PageEntry, first: CivilDate, last: CivilDate)], from: CivilDate, to: CivilDate
    ) {
        /// For each row the day after its last bar.
        var ends: [Int] = []
        for span in spans.sorted(by: { ($0.first, $1.last) < ($1.first, $0.last) }) {
            let (first, last) = (
                max(span.first, from).daysSinceEpoch, min(span.last, to).daysSinceEpoch
            )
            guard let row = ends.firstIndex(where: { $0 <= first }) ?? (ends.count < Self.rows - 1 ? ends.count : nil)
            else {
                for day in first...last { days[day, default: Day()].hidden += 1 }
                continue
            }
            if row == ends.count { ends.append(0) }
            ends[row] = last + 1
            for day in first...last {
                var own = days[day, default: Day()]
                while own.bars.count <= row { own.bars.append(.free) }
                if day == first {
                    own.bars[row] = .bar(
                        span.entry, days: last - first + 1, isLater: span.first < from, goesOn: span.last > to)
                }
                days[day] = own
            }
        }
    }
}

extension MonthPlan.Day {
    /// Leaves out the entries for which a cell has no room.
    fileprivate mutating func fit(rows: Int) {
        guard bars.count + single.count + (hidden > 0 ? 1 : 0) > rows else { return }
        let room = max(0, rows - 1 - bars.count)
        hidden += single.count - min(room, single.count)
        single = Array(single.prefix(room))
    }
}

extension RenderContext {
    /// The whole weeks that a month touches.
    func weeks(of any: CivilDate) -> ClosedRange<CivilDate> {
        let last = frame.weekStart.start(of: any.endOfMonth)
        return frame.weekStart.start(of: any.startOfMonth)...last.adding(days: 6)
    }

    /// A month with the entries of each day, for the template `month`.
    ///
    /// - Parameter more: the address of a page with all entries of a day.
    func month(
        _ day: CivilDate, _ entries: [PageEntry], caption: String, more: (CivilDate) -> String
    ) -> Node {
        let plan = MonthPlan(entries, weeks: weeks(of: day), in: times.zone)
        return month(day, caption: caption, showsNeighbours: true) { day in
            let own = plan[day]
            let bars = own.bars.map { row -> Node in
                guard case .bar(let entry, let days, let isLater, let goesOn) = row else { return ["isFree": true] }
                guard case .map(var chip) = chip(entry, on: day) else { return .nothing }
                chip["isBar"] = true
                chip["over"] = .number(days)
                chip["isLater"] = .flag(isLater)
                chip["goesOn"] = .flag(goesOn)
                chip["until"] = .text(words("barUntil", ["day": times.date(entry.span.lastDay(in: times.zone))]))
                return .map(chip)
            }
            var cell: [String: Node] = [
                "entries": .rows(bars + own.single.map { chip($0, on: day) }), "isEmpty": .flag(own.isEmpty),
            ]
            if own.hidden > 0 {
                cell["more"] = [
                    "href": .text(more(day)), "label": .text(words("calendarMore", count: own.hidden)),
                ]
            }
            return cell
        }
    }
}
