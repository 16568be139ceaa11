// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CompanionFolder
import Foundation
import KalendsCompanion

/// Lists the folder's calendars, and sets what each is used for.
struct Calendars: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the calendars, and set what each is used for.",
        discussion: """
            own      its events go to the server with all their fields; they are read here and never written
            mirror   shows the server's events, which can be changed here
            planned  only titles, times and the calendar's name go to the server, for the past 7 and the next 30 days
            """)

    @Option(help: "Calendars whose events go to the server; an empty text chooses none.")
    var own: [String] = []

    @Option(help: "The calendar that shows the server's events; an empty text chooses none.")
    var mirror: String?

    @Option(help: "Make a calendar of this name and show the server's events in it.")
    var make: String?

    @Option(help: "Calendars whose titles and times go to the server; an empty text chooses none.")
    var planned: [String] = []

    @Option(help: "Seconds for which an event has to be missing before it counts as deleted.")
    var patience: Int?

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        if mirror != nil, make != nil { throw ValidationError("Give either --mirror or --make.") }
        if let patience, !(0...86_400).contains(patience) {
            throw ValidationError("The patience is 0 to 86,400 seconds.")
        }
    }

    func run() async throws {
        let context = try CompanionContext.open()
        let store = context.connector.calendars
        var choices = context.choices
        var there = try await Self.list(store)
        if let make {
            let made: StoreCalendar
            do throws(StoreFailure) { made = try await store.makeCalendar(titled: make) } catch {
                throw ToolFailure.failed("The calendar could not be made: \(error.sentence)")
            }
            there = try await Self.list(store)
            choices.mirror = made.id
        }
        if !own.isEmpty { choices.own = try own.filter { !$0.isEmpty }.map { try Self.find($0, in: there) } }
        if !planned.isEmpty {
            choices.planned = try planned.filter { !$0.isEmpty }.map { try Self.find($0, in: there) }
        }
        if let mirror { choices.mirror = mirror.isEmpty ? nil : try Self.find(mirror, in: there) }
        if let patience { choices.patience = patience }
        if let mirror = choices.mirror, choices.own.contains(mirror) {
            throw ToolFailure.use("A calendar that shows the server's events cannot also be an own calendar.")
        }
        if choices != context.choices { try context.paths.choices.write(choices) }
        // A caller who may list the calendars may also read them.
        var unreadable: [[String]] = []
        for calendar in there { unreadable.append((try? await context.store.unreadable(in: calendar.id)) ?? []) }
        try show(there, unreadable, choices)
    }

    private func show(_ calendars: [StoreCalendar], _ unreadable: [[String]], _ choices: Choices) throws {
        if json {
            return try Output.json([
                "calendars": .array(
                    zip(calendars, unreadable).map { calendar, unreadable in
                        [
                            "id": .string(calendar.id), "title": .string(calendar.title),
                            "color": JSONValue(calendar.color), "canWrite": .bool(calendar.canWrite),
                            "uses": .array(choices.uses(of: calendar.id).map(JSONValue.string)),
                            "unreadable": .array(unreadable.map(JSONValue.string)),
                        ]
                    })
            ])
        }
        for (calendar, unreadable) in zip(calendars, unreadable) {
            let name = calendar.title == calendar.id ? calendar.id : "\(calendar.id) (\(calendar.title))"
            let uses = choices.uses(of: calendar.id).joined(separator: ", ")
            Output.line("\(name)\(calendar.canWrite ? "" : ", read only"): \(uses.isEmpty ? "not used" : uses)")
            if let first = unreadable.first {
                let files = Output.count(
                    unreadable.count, "file does not hold exactly one event and is",
                    "files do not hold exactly one event each and are")
                Output.line("  \(files) ignored, such as \(first)")
            }
        }
        if calendars.isEmpty { Output.line("\(choices.folder) holds no calendar: each is a folder in it.") }
        if choices.summary == nil {
            Output.line("Choose with --own, --mirror or --make, and --planned: `kalends-companion help calendars`.")
        }
    }

    private static func list(_ store: GuardedCalendarStore) async throws -> [StoreCalendar] {
        do throws(StoreFailure) {
            return try await store.calendars().sorted { $0.title < $1.title }
        } catch {
            throw ToolFailure.failed(error.sentence)
        }
    }

    /// Returns a calendar by its id, or by its title if only one calendar has it.
    private static func find(_ name: String, in calendars: [StoreCalendar]) throws -> String {
        if let found = calendars.first(where: { $0.id == name }) { return found.id }
        let titled = calendars.filter { $0.title == name }
        guard titled.count < 2 else {
            throw ToolFailure.use("Several calendars are called \(name): name one by its id.")
        }
        guard let found = titled.first else { throw ToolFailure.use("There is no calendar \(name).") }
        return found.id
    }
}

extension StoreFailure {
    /// The failure as a sentence for a terminal; it contains no part of an event.
    var sentence: String {
        switch self {
        case .notAuthorized: "The calendars are not connected, or cannot be read: run `kalends-companion login`."
        case .calendarGone: "A calendar is not there."
        case .readOnly: "The calendar cannot be written."
        case .eventGone: "The event is not there."
        case .invalid: "The event cannot be stored."
        case .changedMeanwhile: "The event was changed meanwhile."
        case .temporary: "It did not work this time."
        case .cancelled: "It was cancelled."
        }
    }
}
