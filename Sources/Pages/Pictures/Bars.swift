// SPDX-License-Identifier: Apache-2.0

import Calendar

/// Counts of several kinds, with one column for each day.
struct Bars {
    var days: [CivilDate]
    /// The kinds' names, each with a count for every day.
    var kinds: [(name: String, counts: [Int])]
    /// The number of each kind's colour in the style sheet's variables.
    var colors = [0, 1, 2, 3, 4, 5]

    static let (width, height, foot) = (720, 186, 30)
    /// The maximum width of a column, so that a single day does not fill the chart.
    static let widest = 32.0
}

extension RenderContext {
    /// A chart of columns with its table, for the template `bars`.
    func bars(_ bars: Bars, title: String, caption: String) -> Node {
        let totals = bars.days.indices.map { day in bars.kinds.reduce(0) { $0 + $1.counts[day] } }
        let top = Self.roundTop(totals.max() ?? 0)
        let (left, width) = (64, Bars.width - 68)
        let step = Double(width) / Double(max(1, bars.days.count))
        let column = min(step * 0.76, Bars.widest)
        let ground = Bars.height - Bars.foot
        let scale = Double(ground - 12) / Double(top)
        var shapes: [Node] = []
        for (day, date) in bars.days.enumerated() {
            var below = 0
            for (kind, own) in bars.kinds.enumerated() where own.counts[day] > 0 {
                let count = own.counts[day]
                let high = Self.tenths(Double(ground) - Double(below + count) * scale)
                let low = Self.tenths(Double(ground) - Double(below) * scale)
                below += count
                shapes.append([
                    "x": .text(Self.tenths(Double(left) + (Double(day) + 0.5) * step - column / 2).decimal),
                    "y": .text(high.decimal), "width": .text(Self.tenths(column).decimal),
                    "height": .text((low - high).decimal), "kind": .number(bars.colors[kind % 6]),
                    "title": .text(
                        words("barsTitle", ["day": times.date(date), "name": own.name, "number": words.number(count)])),
                ])
            }
        }
        let every = max(1, (bars.days.count + 5) / 6)
        let labels = bars.days.indices.filter { $0 % every == 0 }.map { day -> Node in
            [
                "x": .text(Self.tenths(Double(left) + (Double(day) + 0.5) * step).decimal),
                "y": .number(Bars.height - 6),
                "text": .text(times.shortDate(bars.days[day])),
            ]
        }
        let lines = [0, top / 2, top].map { value -> Node in
            let y = Self.tenths(Double(ground) - Double(value) * scale)
            return [
                "y": .text(y.decimal), "textY": .text((y + 40).decimal), "x": .number(left - 8), "left": .number(left),
                "right": .number(Bars.width - 4), "text": .text(words.number(value)),
            ]
        }
        let rows = zip(bars.days, totals.indices).filter { totals[$1] > 0 }.reversed().map { date, day -> [Cell] in
            [.time(times.dayNode(date))] + bars.kinds.map { .number($0.counts[day]) }
        }
        return [
            "title": .text(title), "width": .number(Bars.width), "height": .number(Bars.height),
            "shapes": .list(shapes), "labels": .list(labels), "lines": .list(lines),
            "kinds": .list(
                bars.kinds.enumerated().map { ["kind": .number(bars.colors[$0 % 6]), "name": .text($1.name)] }),
            "table": table(caption, ["columnDay"], rows, names: bars.kinds.map(\.name)),
        ]
    }

    /// The smallest number of the form 2 × (1…10) × 10ⁿ that is at least the value.
    static func roundTop(_ value: Int) -> Int {
        var unit = 2
        while true {
            for factor in 1...10 where unit * factor >= value { return unit * factor }
            unit *= 10
        }
    }

    /// The value in tenths of a unit, so that numbers in the chart are short.
    static func tenths(_ value: Double) -> Int { Int((value * 10).rounded()) }
}

extension Int {
    /// A number of tenths as a decimal.
    var decimal: String {
        self % 10 == 0 ? "\(self / 10)" : "\(self < 0 ? "-" : "")\(abs(self) / 10).\(abs(self) % 10)"
    }
}
