// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import ICalBridge

struct Render: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a calendar cold, after one change and joined, compared with libical, Python and PHP.")

    @Option(help: "How many events.") var events = 10_000
    @Option(help: "How many runs; the median counts.") var runs = 9
    @Option(help: "The folder of other libraries' programs; none is run without it.") var peers: String?
    @Option(help: "The Python that has icalendar.") var python = "python3"

    func run() throws {
        guard let berlin = TimeZoneReference("Europe/Berlin"), let york = TimeZoneReference("America/New_York") else {
            throw ValidationError("This machine has no tzdata.")
        }
        let first = Instant(seconds: 1_767_225_600)
        let coverage = first...first.adding(seconds: 400 * 86_400)
        let items = (0..<events).map { Self.item($0, first) }
        func event(_ index: Int, sequence: Int = 0) -> Event {
            let stamp = Instant(seconds: 1_767_000_000 + index)
            return items[index].event(
                Revision(
                    uid: Self.uid(index), sequence: sequence, createdAt: stamp,
                    updatedAt: stamp.adding(seconds: sequence)),
                in: index % 10 == 0 ? york : berlin, style: CareStyle())
        }
        var calendar = ICalendar(name: "Bench")
        calendar.method = "PUBLISH"
        calendar.refreshInterval = ICalDuration(seconds: 3600)
        let values = items.indices.map { event($0) }
        var whole = calendar
        whole.events = values
        let text = whole.serialized(coverage: coverage)
        print("\(events) events, \(text.count) bytes, median of \(runs) runs")

        let cold = Timing(runs: runs) {
            var calendar = calendar
            calendar.events = items.indices.map { event($0) }
            keep(calendar.serialized(coverage: coverage))
        }
        row("cold: items to values to text", cold.milliseconds)
        row("cold: values to text", Timing(runs: runs) { keep(whole.serialized(coverage: coverage)) }.milliseconds)
        guard let tree = LibicalTree(text) else { throw ValidationError("libical reads nothing of it.") }
        let libical = Timing(runs: runs) { keep(tree.print()) }
        row("libical prints its own tree of the same calendar", libical.milliseconds)

        var pieces = values.map { CalendarPiece([$0]) }
        let joined = JoinedCalendar(calendar, pieces: pieces, coverage: coverage)
        guard joined.bytes == text else { throw ValidationError("The joined calendar is another.") }
        let joining = Timing(runs: runs * 5) { keep(joined.bytes) }
        row(
            "joining alone", joining.milliseconds,
            "\(rounded(Double(text.count) / 1_000_000 / joining.milliseconds, 2)) GB/s")
        var sequence = 0
        let change = Timing(runs: runs * 5) {
            sequence += 1
            let index = sequence * 7919 % pieces.count
            pieces[index] = CalendarPiece([event(index, sequence: sequence)])
            keep(JoinedCalendar(calendar, pieces: pieces, coverage: coverage).bytes)
        }
        row("one event changed, its piece made, all joined", change.milliseconds)
        if let peers {
            let properties = [
                "VERSION:2.0", "CALSCALE:GREGORIAN", "METHOD:PUBLISH", "NAME:Bench", "X-WR-CALNAME:Bench",
            ]
            // Series are left out: a peer would only copy their rules.
            var plain = calendar
            plain.refreshInterval = nil
            plain.events = values.filter(\.recurrence.isEmpty)
            try Peers(python: python, folder: peers)
                .run(properties, plain.events, text: plain.serialized(coverage: coverage))
        }
        print("cold / libical  \(rounded(cold.milliseconds / libical.milliseconds, 2))  (at most 2.5 is wanted)")
        print("cold / change   \(rounded(cold.milliseconds / change.milliseconds, 1))  (at least 50 is wanted)")
    }

    private static func uid(_ index: Int) -> String {
        let digits = String(index)
        return "7c9e6679-7425-40de-944b-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// Makes an item: one in ten is an appointment in another zone, one in fifty a series; each has a reminder.
    private static func item(_ index: Int, _ first: Instant) -> CareItem {
        let start = first.adding(seconds: index * 3_000 % (380 * 86_400) / 900 * 900)
        if index % 10 == 0 {
            var recurrence = Recurrence()
            if index % 50 == 0, let rule = try? RecurrenceRule("FREQ=WEEKLY;COUNT=6;BYDAY=MO,WE") {
                recurrence.rules = [rule]
            }
            var item = CareItem(
                category: "Appointment", label: "Appt",
                title: ["Elena Rivera", "Dr. Okafor, practice \(index)"],
                span: .timed(start: start, end: start.adding(seconds: 2700), zone: "Europe/Berlin"), availability: .busy
            )
            item.location = "12 Example Street, floor 2"
            item.reminders = [60]
            item.notes = "Bring the list of medicines; ask about the results."
            item.recurrence = recurrence
            return item
        }
        var item = CareItem(
            category: "Task", label: nil, title: ["Give medicine number \(index), with food"],
            span: .timed(start: start, end: start.adding(seconds: 1800), zone: "Europe/Berlin"), availability: .free)
        item.isToDo = true
        item.reminders = [15]
        item.notes = "One tablet after breakfast; call if it is refused."
        return item
    }
}
