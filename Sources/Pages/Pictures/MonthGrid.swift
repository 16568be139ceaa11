// SPDX-License-Identifier: Apache-2.0

import Calendar

extension RenderContext {
    /// A month as a table of weeks that begin on Monday; days of other months are empty cells.
    ///
    /// - Parameter content: the content of a day's cell.
    func month(_ any: CivilDate, caption: String, content: (CivilDate) -> [String: Node]) -> Node {
        let first = any.startOfMonth
        let next = any.firstOfMonth(adding: 1)
        var weeks: [Node] = []
        var monday = first.adding(days: -first.mondayBasedWeekday)
        while monday < next {
            let days = (0..<7).map { index -> Node in
                let day = monday.adding(days: index)
                guard day >= first, day < next else { return ["isOutside": true] }
                var cell = content(day)
                cell["iso"] = .text(day.description)
                cell["number"] = .number(day.day)
                cell["title"] = .text(times.weekdayDate(day))
                cell["isToday"] = .flag(day == times.today)
                return .map(cell)
            }
            weeks.append(["days": .list(days)])
            monday = monday.adding(days: 7)
        }
        return [
            "caption": .text(caption), "weeks": .list(weeks),
            "weekdays": .list(
                (0..<7).map {
                    ["short": .text(words.choice("weekdaysShort", $0)), "long": .text(words.choice("weekdays", $0))]
                }),
        ]
    }
}
