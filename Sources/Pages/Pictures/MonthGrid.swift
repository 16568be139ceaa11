// SPDX-License-Identifier: Apache-2.0

import Calendar

extension RenderContext {
    /// A month as a table of weeks, which begin where the reader's do.
    ///
    /// - Parameters:
    ///   - showsNeighbours: whether days of other months have their contents; otherwise they are empty cells.
    ///   - content: the content of a day's cell.
    func month(
        _ any: CivilDate, caption: String, showsNeighbours: Bool = false, content: (CivilDate) -> [String: Node]
    ) -> Node {
        let first = any.startOfMonth
        let next = any.firstOfMonth(adding: 1)
        var weeks: [Node] = []
        var start = frame.weekStart.start(of: first)
        while start < next {
            let days = (0..<7).map { index -> Node in
                let day = start.adding(days: index)
                let isNeighbour = day < first || day >= next
                guard showsNeighbours || !isNeighbour else { return ["isOutside": true] }
                var cell = content(day)
                cell["isNeighbour"] = .flag(isNeighbour)
                cell["iso"] = .text(day.description)
                cell["number"] = .number(day.day)
                cell["title"] = .text(times.weekdayDate(day))
                cell["isToday"] = .flag(day == times.today)
                return .map(cell)
            }
            weeks.append(["days": .list(days)])
            start = start.adding(days: 7)
        }
        return [
            "caption": .text(caption), "weeks": .list(weeks),
            "weekdays": .list(
                (0..<7).map {
                    let weekday = (frame.weekStart.rawValue + $0) % 7
                    return [
                        "short": .text(words.choice("weekdaysShort", weekday)),
                        "long": .text(words.choice("weekdays", weekday)),
                    ]
                }),
        ]
    }
}
