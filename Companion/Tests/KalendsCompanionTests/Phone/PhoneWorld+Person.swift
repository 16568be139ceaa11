// SPDX-License-Identifier: Apache-2.0

import EventKitStandIn
import Foundation
import OfficeDays

@testable import KalendsCompanion

extension PhoneWorld {
    private var rows: [(number: Int, row: StandInDevice.Row)] {
        device.events.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func isOurs(_ row: StandInDevice.Row) -> Bool { EventMark(url: row.fields.url) != nil }

    /// Makes one move of the person, on the phone or at the server.
    func act() {
        wait(20 + dice.pick(600))
        switch dice.pick(16) {
        case 0, 1: makeOnPhone()
        case 2, 3: editOnPhone()
        case 4: deleteOnPhone()
        case 5: changeOccurrence()
        case 6: copyOnPhone()
        case 7: moveOnPhone()
        case 8, 9: makeOnServer()
        case 10, 11, 12: editOnServer()
        case 13: deleteOnServer()
        case 14: strangersEvent()
        default: wait(7200)
        }
    }

    private func makeOnPhone() {
        let calendar = dice.isOne(in: 2) ? home : work
        let number = device.add(fields(text()), to: calendar, rules: rule())
        trace.append("phone makes \(number)")
    }

    private func editOnPhone() {
        guard let (number, row) = dice.pick(rows) else { return }
        let title = text()
        let isTime = dice.isOne(in: 2)
        retire([row.fields.title])
        var fields = row.fields
        fields.title = title
        if isTime, row.rules.isEmpty { fields.when = self.fields(title).when }
        if dice.isOne(in: 3) {
            retire([row.fields.location])
            fields.location = text()
        }
        trace.append("phone edits \(number) \(row.fields.title) to \(title)\(isTime ? " and its time" : "")")
        device.change(number) { $0.fields = fields }
    }

    private func deleteOnPhone() {
        guard let (number, row) = dice.pick(rows) else { return }
        retire([row.fields.title, row.fields.location] + row.detached.values.map(\.title))
        trace.append("phone deletes \(number) \(row.fields.title)")
        device.delete(number)
    }

    private func changeOccurrence() {
        guard let (number, row) = dice.pick(rows.filter { !$0.row.rules.isEmpty }), let rule = row.rules.first else {
            return
        }
        var zone = "UTC"
        if case .timed(_, _, let name) = row.fields.when { zone = name }
        let starts = rule.allStarts(row.fields.when, zone)
        guard let moment = dice.pick(Array(starts.dropFirst())), !row.leftOut.contains(moment) else { return }
        if dice.isOne(in: 2) {
            trace.append("phone leaves out an occurrence of \(number)")
            retire([row.detached[moment]?.title])
            device.change(number) {
                $0.detached[moment] = nil
                $0.leftOut.insert(moment)
            }
        } else {
            let title = text()
            retire([row.detached[moment]?.title])
            trace.append("phone changes an occurrence of \(number) to \(title)")
            var changed = row.fields
            changed.title = title
            changed.when = row.fields.when.shifted(to: moment)
            device.change(number) { $0.detached[moment] = changed }
        }
    }

    private func copyOnPhone() {
        guard let (number, row) = dice.pick(rows.filter { isOurs($0.row) && $0.row.rules.isEmpty }) else { return }
        trace.append("phone copies \(number)")
        device.add(row.fields, to: mirror)
    }

    private func moveOnPhone() {
        guard let (number, row) = dice.pick(rows.filter { !isOurs($0.row) && [home, work].contains($0.row.calendar) })
        else { return }
        trace.append("phone moves \(number)")
        device.move(number, to: row.calendar == home ? work : home)
    }

    private func strangersEvent() {
        device.add(fields("stranger"), to: dice.isOne(in: 2) ? hidden : mirror)
    }

    private func makeOnServer() {
        let kinds: [ModelServer.Kind?] = [nil, nil, .task, .appointment]
        let kind = kinds[dice.pick(4)]
        let isSeries = kind == nil && dice.isOne(in: 4)
        let title = text()
        let id = server.create(kind) { fill(&$0, title, isSeries: isSeries) }
        trace.append("server makes \(id) \(title)")
    }

    private var living: [ModelServer.Stored] {
        server.all.filter { !$0.event.isDeleted && $0.event.externalInstanceId == nil }
    }

    private func editOnServer() {
        guard let stored = dice.pick(living) else { return }
        let title = text()
        retire([stored.event.title])
        let isTime = dice.isOne(in: 3) && stored.event.recurrence == nil
        trace.append("server edits \(stored.event.id) \(stored.event.title) to \(title)\(isTime ? " and time" : "")")
        server.change(stored.event.id) { event in
            if isTime { fill(&event, title, isSeries: false) } else { event.title = title }
            if dice.isOne(in: 4) {
                retire([event.description])
                event.description = text()
            }
        }
    }

    private func deleteOnServer() {
        guard let stored = dice.pick(living) else { return }
        retire([stored.event.title, stored.event.location, stored.event.description])
        for part in server.all where part.event.externalId == stored.event.externalId && stored.event.externalId != nil
        {
            retire([part.event.title])
        }
        trace.append("server deletes \(stored.event.id) \(stored.event.title)")
        server.delete(stored.event.id)
    }
}

extension StandInDevice.When {
    /// A changed occurrence's times: an hour later, or the next day.
    func shifted(to moment: Int) -> StandInDevice.When {
        switch self {
        case .allDay(let first, let last):
            .allDay(first: moment / 86_400 + 1, last: moment / 86_400 + 1 + last - first)
        case .timed(let start, let end, let zone):
            .timed(start: moment + 3600, end: moment + 3600 + end - start, zone: zone)
        case .floating(let start, let end): .floating(start: moment + 3600, end: moment + 3600 + end - start)
        }
    }
}

extension EKRecurrenceRule {
    /// Returns the starts of a short series.
    func allStarts(_ when: StandInDevice.When, _ zone: String) -> [Int] {
        let first: Int
        switch when {
        case .allDay(let day, _): first = day * 86_400
        case .timed(let start, _, _), .floating(let start, _): first = start
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: zone) ?? .gmt
        let step: Calendar.Component = frequency == .daily ? .day : .weekOfYear
        return (0..<(recurrenceEnd?.occurrenceCount ?? 1)).compactMap { index in
            calendar.date(
                byAdding: step, value: index * interval, to: Date(timeIntervalSince1970: Double(first))
            ).map { Int($0.timeIntervalSince1970) }
        }
    }
}
