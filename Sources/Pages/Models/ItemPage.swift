// SPDX-License-Identifier: Apache-2.0

import Calendar

/// `/app/circles/{circle}/{collection}/{id}`: all details of one item.
public struct ItemPage: Page {
    public enum Status: String, Sendable, CaseIterable {
        case open, completed, confirmed, tentative, cancelled
    }

    public var entry: PageEntry
    public var status: Status?
    public var person: String?
    public var patient: String?
    public var place: String?
    public var notes: String?
    /// The event's own zone, if it is not the reader's.
    public var zone: String?
    /// Minutes before the start.
    public var reminders: [Int]
    public var repeats: Bool
    public var createdAt: Int?
    public var updatedAt: Int?
    /// The item, as in the path of its page.
    public var item: String?
    /// Nil when nothing is known about it, for example for an imported event.
    public var reach: ItemReach?
    /// The reader's own feeds that do not show the item, each with the rule that leaves it out.
    public var silent: [(feed: FeedSummary, rule: FeedPage.LeftOut.Rule)] = []

    public init(
        entry: PageEntry, status: Status? = nil, person: String? = nil, patient: String? = nil, place: String? = nil,
        notes: String? = nil, zone: String? = nil, reminders: [Int] = [], repeats: Bool = false, createdAt: Int? = nil,
        updatedAt: Int? = nil, reach: ItemReach? = nil
    ) {
        (self.entry, self.status, self.person, self.patient, self.place) = (entry, status, person, patient, place)
        (self.notes, self.zone, self.reminders, self.repeats) = (notes, zone, reminders, repeats)
        (self.createdAt, self.updatedAt, self.reach) = (createdAt, updatedAt, reach)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times) = (paper.words, paper.times)
        let title = entry.title.isEmpty ? words["untitled"] : entry.title
        let day = entry.span.firstDay(in: times.zone)
        let when = paper.when(entry.span, times.fullDate)
        return PageContent(
            template: "item", title: title, isName: true, section: .calendar,
            content: [
                "facts": paper.facts([
                    paper.fact("itemKind", plain(words[entry.kind.word])),
                    paper.fact("itemTime", plain(when)),
                    paper.fact("itemStatus", status.map { ["badge": badge(paper, $0)] }),
                    paper.fact("itemRepeats", repeats ? plain(words["itemRepeatsText"]) : nil),
                    paper.fact("itemPatient", named(patient)),
                    paper.fact("itemPerson", named(person)),
                    paper.fact("itemPlace", named(place)),
                    paper.fact("itemZone", plain(zone)),
                    paper.fact("itemReminders", reminders.isEmpty ? nil : plain(paper.reminders(reminders))),
                    paper.fact("itemCreated", timed(createdAt.map(times.exactly))),
                    paper.fact("itemUpdated", timed(updatedAt.map(times.exactly))),
                ]),
                "happened": paper.linkButton(
                    "actWhoChanged", paper.circlePath("/activity\(ActivityPage.query(item, "?"))"), style: .quiet),
                "notes": .text(notes), "reach": reach.map { shown(paper, $0) } ?? .nothing,
            ],
            crumbs: [(words["navCalendar"], paper.circlePath("?date=\(day.description)"))])
    }

    private func badge(_ paper: RenderContext, _ status: Status) -> Node {
        let tone: BadgeTone =
            switch status {
            case .open, .confirmed: .busy
            case .completed: .good
            case .tentative: .warning
            case .cancelled: .off
            }
        return paper.badge(tone, "status_" + status.rawValue)
    }
}

extension RenderContext {
    /// A text such as "at the start, 1 hour before".
    func reminders(_ minutes: [Int]) -> String {
        minutes.map { minutes in
            switch minutes {
            case 0: words["reminderAtStart"]
            case let minutes where minutes % 1440 == 0: words("reminderDays", count: minutes / 1440)
            case let minutes where minutes % 60 == 0: words("reminderHours", count: minutes / 60)
            default: words("reminderMinutes", count: minutes)
            }
        }.joined(separator: ", ")
    }
}
