// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Why an item of the circle is not in a feed; the raw value is what the API says.
enum Exclusion: String, Sendable {
    case kind = "kind-not-included"
    case patient = "patient-not-included"
    case completed = "completed-task"
    case window = "outside-window"
    case privateEvent = "private-event"
}

/// Where an entry lies in time, as a window sees it.
enum Extent: Sendable {
    /// Whole days, to the day after the last.
    case days(CivilDate, until: CivilDate)
    case instants(Instant, until: Instant)
    /// A series with its changed occurrences.
    case series([Series])
    case nowhere

    init(of events: [Event], zone: TimeZoneReference) {
        guard let event = events.first else {
            self = .nowhere
            return
        }
        if events.count > 1 || !event.recurrence.isEmpty {
            self = .series(Series.group(events))
        } else if let end = event.effectiveEnd {
            // A to-do is where it is due.
            let start = event.start ?? end
            if case .date(let first) = start {
                self = .days(first, until: end.civilDate)
            } else {
                self = .instants(
                    start.instant(floatingIn: zone.rules), until: end.instant(floatingIn: zone.rules))
            }
        } else {
            self = .nowhere
        }
    }
}

/// What decides whether an entry is in a feed, besides its time.
struct EntryTraits: Sendable {
    /// Nil for an imported event.
    var collection: ScheduleItem.Collection?
    var patientID: String?
    var isCompletedTask = false
    /// Who brought the private events among the components, nil the host application: they are shown to them alone.
    var privateTo: [String?] = []
}

/// The one place that decides what of a circle a feed shows.
struct FeedFilter {
    let configuration: FeedConfiguration
    let userID: String
    let window: FeedWindow
    let zone: TimeZoneReference
    private let patients: Set<String>?
    private let notice: RenewalNotice?

    init(_ live: LiveFeedParts, window: FeedWindow) {
        configuration = live.configuration
        userID = live.feed.userID
        zone = live.zone
        self.window = window
        patients = live.configuration.patientIds.map(Set.init)
        notice = live.notice.map { RenewalNotice($0, live) }
    }

    func exclusion(of traits: EntryTraits) -> Exclusion? {
        let isIncluded =
            switch traits.collection {
            case .tasks: configuration.includeTasks
            case .shifts: configuration.includeShifts
            case .appointments: configuration.includeAppointments
            case .followUps: configuration.includeFollowUps
            case nil: configuration.includeImported
            }
        if !isIncluded { return .kind }
        if let patients, !(traits.patientID.map(patients.contains) ?? false) { return .patient }
        if traits.privateTo.contains(where: { $0 != userID }) { return .privateEvent }
        if traits.isCompletedTask, configuration.completedTasks == .remove { return .completed }
        return nil
    }

    /// What a feed tells of its own address, whatever its configuration: only to who comes with a replaced one.
    var notices: [Event] {
        guard let event = notice?.event, exclusion(by: Extent(of: [event], zone: zone)) == nil else { return [] }
        return [event]
    }

    func exclusion(by extent: Extent) -> Exclusion? {
        let isShown =
            switch extent {
            case .days(let first, let until): window.shows(days: first, until: until)
            case .instants(let start, let until): window.shows(start, until: until)
            // A series is there as a whole as soon as one occurrence is in the window.
            case .series(let series):
                series.contains { $0.hasOccurrence(from: window.from, to: window.to, floatingIn: zone.rules) }
            case .nowhere: false
            }
        return isShown ? nil : .window
    }
}
