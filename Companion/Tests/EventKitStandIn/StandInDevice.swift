// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A device's calendar database, with the known faults of real ones.
///
/// Stores read and write it as EventKit's do; a test acts as the person who uses the calendar app, as the accounts that
/// sync, and as the system. A lock guards everything that changes.
public final class StandInDevice: @unchecked Sendable {
    public struct Calendar: Sendable {
        public var id: String
        public var title: String
        public var type: EKCalendarType
        public var canWrite: Bool
        /// Whether the account that owns the calendar is unavailable at the moment.
        public var isHidden = false
        public var changedNames = ChangedNames.shared
        /// Whether the account keeps the URL of an event that a program saves.
        public var keepsURLs = true
    }

    /// How an account names an occurrence that was changed.
    public enum ChangedNames: Hashable, Sendable, CaseIterable {
        /// As the series, except for a suffix of the event's own identifier.
        case shared
        /// By the series' external identifier with a suffix; its identifiers on the device are its own.
        case suffixed
        /// By an external identifier of its own; its event's identifier is the series' with a suffix.
        case other
    }

    /// The time of an event. A time without a zone is stored as wall time and shown in the device's zone.
    public enum When: Hashable, Sendable {
        /// Days since 1970, the last day inclusive.
        case allDay(first: Int, last: Int)
        /// Seconds since 1970 and an IANA zone.
        case timed(start: Int, end: Int, zone: String)
        /// Wall time without a zone, as seconds since 1970.
        case floating(start: Int, end: Int)

        /// The start in the unit of the row, which identifies occurrences.
        var moment: Int {
            switch self {
            case .allDay(let first, _): first * 86_400
            case .timed(let start, _, _): start
            case .floating(let start, _): start
            }
        }

        func moved(to moment: Int) -> When {
            switch self {
            case .allDay(let first, let last):
                let day = moment / 86_400
                return .allDay(first: day, last: day + last - first)
            case .timed(let start, let end, let zone):
                let clock = TimeZone(identifier: zone) ?? .gmt
                func wall(_ second: Int) -> Int {
                    second + clock.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
                }
                let length = wall(end) - wall(start)
                var last = moment + length
                // The length is kept in wall time.
                let offset = wall(moment) - moment - (wall(last) - last)
                last += offset
                return .timed(start: moment, end: last, zone: zone)
            case .floating(let start, let end): return .floating(start: moment, end: moment + end - start)
            }
        }
    }

    /// The fields of an event that a person sees.
    public struct Fields: Hashable, Sendable {
        public var title: String
        public var location: String?
        public var notes: String?
        public var url: String?
        public var when: When
        public var isFree = false

        public init(
            title: String, location: String? = nil, notes: String? = nil, url: String? = nil, when: When
        ) {
            self.title = title
            self.location = location
            self.notes = notes
            self.url = url
            self.when = when
        }
    }

    public struct Row: Sendable {
        public var fields: Fields
        public var calendar: String
        /// The identifier at the account's server.
        public var external: String
        public var local: String
        public var modified: Int
        public var rules: [EKRecurrenceRule] = []
        public var leftOut: Set<Int> = []
        public var detached: [Int: Fields] = [:]
        public var hasAttendees = false
    }

    @TaskLocal public static var current = StandInDevice()

    let lock = NSRecursiveLock()
    var calendarRows: [Calendar] = []
    var rows: [Int: Row] = [:]
    var next = 1
    var status = EKAuthorizationStatus.notDetermined
    var answer = EKAuthorizationStatus.fullAccess
    private var zoneName = "UTC"
    var failures = 0
    private var stores: [Weak] = []
    private var names: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    private var hook: (@Sendable (String) -> Void)?
    var seconds = 0

    private struct Weak { weak var store: EKEventStore? }

    public init() {}

    func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}

// MARK: Actions of the system and the person

extension StandInDevice {
    /// - Parameter names: the source of identifiers and of the order of results.
    public func start(_ names: any RandomNumberGenerator & Sendable) { locked { self.names = names } }

    public var authorization: EKAuthorizationStatus {
        get { locked { status } }
        set {
            locked { status = newValue }
            announce()
        }
    }

    /// The person's answer when they are asked.
    public var willAnswer: EKAuthorizationStatus {
        get { locked { answer } }
        set { locked { answer = newValue } }
    }

    public var zone: String {
        get { locked { zoneName } }
        set { locked { zoneName = newValue } }
    }

    /// Seconds since 1970 on the device's clock.
    public var now: Int {
        get { locked { seconds } }
        set { locked { seconds = newValue } }
    }

    /// How many of the next commits will fail.
    public var failingCommits: Int {
        get { locked { failures } }
        set { locked { failures = newValue } }
    }

    /// Sets a function that is called with the name of each of the store's functions before it runs.
    public func onCall(_ hook: (@Sendable (String) -> Void)?) { locked { self.hook = hook } }

    func call(_ name: String) { locked { hook }?(name) }

    public var calendars: [Calendar] { locked { calendarRows } }

    @discardableResult
    public func addCalendar(_ title: String, type: EKCalendarType = .calDAV, canWrite: Bool = true) -> String {
        let id = name()
        locked { calendarRows.append(Calendar(id: id, title: title, type: type, canWrite: canWrite)) }
        announce()
        return id
    }

    public func change(calendar id: String, _ body: (inout Calendar) -> Void) {
        locked { if let index = calendarRows.firstIndex(where: { $0.id == id }) { body(&calendarRows[index]) } }
        announce()
    }

    public var events: [Int: Row] { locked { rows } }

    /// Adds an event as a person does in the calendar app.
    @discardableResult
    public func add(_ fields: Fields, to calendar: String, rules: [EKRecurrenceRule] = []) -> Int {
        let local = name()
        let external = locked { calendarRows.first { $0.id == calendar }?.type } == .local ? local : name()
        let number = locked {
            rows[next] = Row(
                fields: fields, calendar: calendar, external: external, local: local, modified: seconds, rules: rules)
            next += 1
            return next - 1
        }
        announce()
        return number
    }

    public func change(_ number: Int, _ body: (inout Row) -> Void) {
        locked {
            guard var row = rows[number] else { return }
            body(&row)
            row.modified = seconds
            rows[number] = row
        }
        announce()
    }

    public func delete(_ number: Int) {
        locked { rows[number] = nil }
        announce()
    }

    /// Adds the same event a second time, such as an invitation to an event in a shared calendar, or a file imported
    /// twice.
    @discardableResult
    public func duplicate(_ number: Int, into calendar: String) -> Int? {
        guard var row = locked({ rows[number] }) else { return nil }
        row.local = name()
        row.calendar = calendar
        let new = locked {
            rows[next] = row
            next += 1
            return next - 1
        }
        announce()
        return new
    }

    /// Simulates a full sync: the device's identifiers change, and those of the accounts' servers stay.
    public func fullSync(calendarsToo: Bool = false) {
        locked {
            var calendarIDs: [String: String] = [:]
            for index in calendarRows.indices where calendarsToo {
                let id = name()
                calendarIDs[calendarRows[index].id] = id
                calendarRows[index].id = id
            }
            for number in rows.keys.sorted() {
                guard var row = rows[number] else { continue }
                row.calendar = calendarIDs[row.calendar] ?? row.calendar
                let isLocal = calendarRows.first { $0.id == row.calendar }?.type == .local
                row.local = name()
                if isLocal { row.external = row.local }
                rows[number] = row
            }
        }
        announce()
    }

    /// Moves an event to another calendar as a person does; the device's identifier of the event changes.
    public func move(_ number: Int, to calendar: String) {
        change(number) { row in
            row.calendar = calendar
            row.local = name()
        }
    }

    func name() -> String {
        locked {
            let high = names.next()
            let low = names.next()
            return String(high, radix: 16) + "-" + String(low, radix: 16)
        }
    }

    func shuffled<Element>(_ list: [Element]) -> [Element] {
        locked {
            var list = list
            for index in stride(from: list.count - 1, to: 0, by: -1) {
                list.swapAt(index, Int(names.next() % UInt64(index + 1)))
            }
            return list
        }
    }

    func follow(_ store: EKEventStore) { locked { stores.append(Weak(store: store)) } }

    func announce() {
        for store in locked({ stores.compactMap(\.store) }) {
            NotificationCenter.default.post(name: .EKEventStoreChanged, object: store)
        }
    }
}
