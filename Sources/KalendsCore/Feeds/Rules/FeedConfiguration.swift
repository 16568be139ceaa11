// SPDX-License-Identifier: Apache-2.0

import ICalBridge
package import Storage

/// What a feed shows.
package struct FeedConfiguration: ContentOptions {
    package enum Detail: String, Hashable, Sendable, CaseIterable {
        case full, titles, busy
    }

    package enum TaskForm: String, Hashable, Sendable, CaseIterable {
        case events, todos
    }

    package enum CompletedTasks: String, Hashable, Sendable, CaseIterable {
        case remove, keep
    }

    /// The kinds of items that are not shown; in the API these are `includeTasks` and similar fields.
    package var hidden: Set<ScheduleItem.Collection> = []
    package var includeImported = true
    /// Whether the owner's own events are shown in addition to the circle's, and those planned on their phones.
    package var includePersonal = false
    package var includePlanned = false
    /// The patients whose items are shown; nil means all patients, and also items without a patient.
    package var patientIds: [String]?
    package var includeReminders = true
    /// Whether the people and the files of imported events are shown, if the import kept them.
    package var includeAttendees = false
    package var includeAttachments = false
    package var showMinimalDetails = false
    package var detail = Detail.full
    package var completedTasks = CompletedTasks.remove
    package var pastDays = 90
    package var futureDays = 400
    /// How tasks are written: only programs with task lists (Thunderbird, Evolution) show to-dos.
    var tasksAs = TaskForm.events
    /// The name of a CSS3 colour; nil leaves the choice to the reader.
    var color: String?
    /// The origins whose pages may show the feed's page in a frame.
    package var embedOrigins: [String] = []

    package init() {}

    package func includes(_ collection: ScheduleItem.Collection) -> Bool { !hidden.contains(collection) }

    /// Whether the feed shows its owner's entries in addition to the circle's.
    var showsOwn: Bool { includePersonal || includePlanned }

    /// The stricter of the two settings that reduce the details shown.
    var level: DetailLevel {
        let own: DetailLevel =
            switch detail {
            case .full: .full
            case .titles: .titles
            case .busy: .busy
            }
        return showMinimalDetails ? max(own, .minimal) : own
    }

    /// Whether another configuration changes how each event looks, and not only which events are shown.
    func showsEventsDifferently(from other: FeedConfiguration) -> Bool {
        level != other.level || includeReminders != other.includeReminders || tasksAs != other.tasksAs
            || extras != other.extras
    }

    /// The people and files of imported events that are shown.
    var extras: Set<EventExtra> {
        Set(EventExtra.choices.filter { $0 == .attendees ? includeAttendees : includeAttachments })
    }

    package static let example: JSONValue = ["detail": "titles", "futureDays": 90]

    package static func option(for kind: any ItemContent.Type) -> String { kind.feedSetting }

    package static let parts: [ItemPart<FeedConfiguration>] = [
        .given("includeImported", \.includeImported, .flag).at(.amongKinds("imported")),
        .given(
            "includePersonal", \.includePersonal,
            .flag.described("Whether the feed shows the owner's own events, in addition to the circle.")
        ).at(.amongKinds("personal")),
        .given(
            "includePlanned", \.includePlanned,
            .flag.described("Whether the feed shows title and time of the events that the owner's phones have planned.")
        ).at(.amongKinds("planned")),
        .nullable("patientIds", \.patientIds, .patients), .given("detail", \.detail, .choice),
        .given("completedTasks", \.completedTasks, .choice),
        .given("includeReminders", \.includeReminders, .flag),
        .given(
            "includeAttendees", \.includeAttendees,
            .flag.described("Whether the feed shows the people of imported events, if the import kept them.")),
        .given(
            "includeAttachments", \.includeAttachments,
            .flag.described("Whether the feed shows the files of imported events, if the import kept them.")),
        .given("pastDays", \.pastDays, .number(0...3660)), .given("futureDays", \.futureDays, .number(0...3660)),
        .given("showMinimalDetails", \.showMinimalDetails, .flag).at(.nowhere),
        .given("tasksAs", \.tasksAs, .choice).at(.nowhere), .nullable("color", \.color, .color).at(.nowhere),
        .given("embedOrigins", \.embedOrigins, .origins),
    ]
}
