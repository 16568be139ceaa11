// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The content of a calendar object resource that a client sent (RFC 4791 section 4.1).
public struct ClientResource: Hashable, Sendable, Codable {
    /// Why the text is not a resource that can be stored.
    public enum Fault: Hashable, Sendable, Codable {
        case data(Sentence)
        case object(Sentence)
        case component
    }

    /// The content of a to-do.
    public struct Task: Hashable, Sendable, Codable {
        public enum Progress: String, Hashable, Sendable, Codable { case open, completed, cancelled }

        public var title: String
        public var notes: String
        /// Nil for a to-do without DUE.
        public var due: Instant?
        public var progress: Progress
        public var repeats: Bool
    }

    public var uid = ""
    public var fault: Fault?
    /// Nil for an event.
    public var task: Task?
    /// Nil for a to-do, and for an event that an entry cannot express.
    public var entry: Entry?
    /// Why an entry cannot express the event, in a sentence for people; nil if it can, and if the event is cancelled.
    public var unread: String?
    /// Whether the whole event is cancelled.
    public var isCancelled = false
    public var categories: [String] = []
    /// The parts that a circle does not store, by component.
    public var parts: [PersonalParts] = []

    /// The events or to-dos in packed form, the series itself first.
    public var packed: [String] = []

    private init() {}

    /// - Parameter floatingZone: the zone for times without a zone.
    public init(_ text: [UInt8], floatingZone: String) {
        self.init()
        read(text, floatingZone)
        if fault == nil, !isSound {
            fault = .data(Sentence(.resourceYears, "It has a time outside of the years 1 to 9999."))
        }
    }

    private mutating func read(_ text: [UInt8], _ floatingZone: String) {
        do throws(CalendarObjectFault) {
            uid = try CalendarObjectCheck.checked(text).uid
        } catch {
            fault = Fault(error)
            return
        }
        let object: CalendarObject
        do throws(CalendarObject.Unreadable) {
            object = try CalendarObject(text, floatingZone: floatingZone, isTask: true)
        } catch {
            fault = .data(Sentence(ofOthers: error.message))
            return
        }
        let rules = SyncZone(floatingZone).rules
        parts = PersonalParts.all(of: object)
        categories = object.events.first?.categories ?? []
        guard object.events.allSatisfy({ $0.kind == .event || $0.kind == .toDo }) else {
            fault = .component
            return
        }
        packed = object.events.sorted { $0.recurrenceID == nil && $1.recurrenceID != nil }.map { event in
            var writer = PackWriter()
            writer.write(event)
            return writer.text
        }
        if let event = object.events.first, event.kind == .toDo {
            task = Task(event, rules)
            return
        }
        switch object.entry {
        case .success(let entry): self.entry = entry
        case .failure(let reason) where reason.isCancelled: isCancelled = true
        case .failure(let reason): unread = reason.message
        }
    }
}

extension ClientResource.Fault {
    init(_ fault: CalendarObjectFault) {
        switch fault {
        case .invalidData(let sentence): self = .data(sentence)
        case .invalidObject(let sentence): self = .object(sentence)
        case .unsupportedComponent: self = .component
        }
    }
}

extension ClientResource.Task {
    /// - Parameter rules: the clock of times without a zone, and of days.
    public init(_ event: Event, _ rules: any TimeZoneRules) {
        let due: EventTime? =
            switch event.end {
            case .time(let time): time
            case .duration(let duration): event.start?.adding(duration)
            case nil: nil
            }
        let isDone = event.otherProperties.contains { $0.name == "COMPLETED" }
        let progress: Progress =
            switch event.status {
            case "COMPLETED": .completed
            case "CANCELLED": .cancelled
            case nil where isDone: .completed
            default: .open
            }
        self.init(
            title: event.summary ?? "", notes: EntryReading.lines(event.description),
            due: due?.instant(floatingIn: rules), progress: progress, repeats: !event.recurrence.isEmpty)
    }
}
