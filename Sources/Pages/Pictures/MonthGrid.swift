// SPDX-License-Identifier: Apache-2.0

extension RenderContext {
    /// A month as a table of weeks that begin on Monday; days of other months are empty cells.
    ///
    /// - Parameter content: the content of a day's cell.
    func month(_ any: CivilDay, caption: String, content: (CivilDay) -> [String: Node]) -> Node {
        let first = any.firstOfMonth()
        let next = any.firstOfMonth(adding: 1)
        var weeks: [Node] = []
        var monday = first.adding(-first.weekday)
        while monday < next {
            let days = (0..<7).map { index -> Node in
                let day = monday.adding(index)
                guard day >= first, day < next else { return ["isOutside": true] }
                var cell = content(day)
                cell["iso"] = .text(day.iso)
                cell["number"] = .number(day.parts.day)
                cell["title"] = .text(times.weekdayDate(day))
                cell["isToday"] = .flag(day == times.today)
                return .map(cell)
            }
            weeks.append(["days": .list(days)])
            monday = monday.adding(7)
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
