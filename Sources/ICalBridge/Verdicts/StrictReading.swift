// SPDX-License-Identifier: Apache-2.0

/// What python's ical, version 14 with its leniency on, makes of a file: the reader of Home Assistant's remote calendars.
///
/// It reads each component into a model and refuses the whole file for one value that does not fit. This follows its
/// models and types as far as they refuse something; what it passes over is passed over here.
struct StrictReading {
    /// The first fault of each kind.
    private(set) var faults: [StrictFault.Kind: StrictFault] = [:]
    /// The number of calendars that began and ended; others are passed over with all that is in them.
    private(set) var calendars = 0

    private var stack: [StrictFrame] = []
    /// What is known about the calendar that is being read.
    private var scope = StrictScope()
    private let leniency: Leniency

    /// The faults that the library overlooks for some programs, by the PRODID.
    private enum Leniency {
        case none
        /// Exchange: times of unknown zones have no zone.
        case zones
        /// Google: UNTIL may be a date where DTSTART has a time.
        case until
    }

    init(_ bytes: [UInt8]) {
        leniency = Self.leniency(bytes)
        var lines = StrictLines(bytes)
        do {
            while let line = try lines.next(valueMatters: matters) {
                guard faults[.nesting] == nil else { return }
                read(line)
            }
        } catch {
            add(StrictFault(kind: .line, line: lines.number))
        }
    }

    /// Looks at the first PRODID and the rest of its line, wherever it is.
    private static func leniency(_ bytes: [UInt8]) -> Leniency {
        let name = Array("PRODID:".utf8)
        var index = 0
        while let colon = ByteSearch.first(58, in: bytes, from: index) {
            index = colon + 1
            guard colon >= 6, bytes[(colon - 6)...colon].elementsEqual(name) else { continue }
            let end = ByteSearch.first(10, in: bytes, from: index) ?? bytes.count
            let product = String(fromOutside: bytes[index..<end])
            if product.contains("Microsoft Exchange Server") { return .zones }
            return product.contains("Google Inc//Google Calendar") ? .until : .none
        }
        return .none
    }

    private mutating func add(_ fault: StrictFault) {
        if faults[fault.kind] == nil { faults[fault.kind] = fault }
    }

    private func matters(_ name: PackedName) -> Bool {
        if name == .begin || name == .end { return true }
        guard let kind = stack.last?.component.field(name)?.kind else { return false }
        switch kind {
        case .text: return name == .action || name == .tzid
        case .any, .address, .relation: return false
        default: return true
        }
    }

    private mutating func read(_ line: StrictLine) {
        if line.name == .begin {
            let name = String(fromOutside: line.value).lowercased()
            let component = (stack.last?.component ?? .stream).child(name)
            if component == .calendar {
                scope = StrictScope()
                if calendars > 0 { scope.fault(StrictFault(kind: .calendar, line: line.number)) }
            }
            stack.append(StrictFrame(component: component, name: name, line: line.number))
        } else if line.name == .end {
            guard let frame = stack.popLast(), frame.name == String(fromOutside: line.value).lowercased()
            else { return add(StrictFault(kind: .nesting, line: line.number)) }
            end(frame)
        } else if let last = stack.indices.last, stack[last].component != .other {
            // A parameter VALUE has one value, whatever the property.
            if let types = line["VALUE"], types.count > 1 { scope.fault(.init(.value, line)) }
            guard let field = stack[last].component.field(line.name) else { return }
            if !stack[last].seen.insert(field.index).inserted, !field.isList { scope.fault(.init(.repeated, line)) }
            stack[last].read(line, field, in: &scope, knows: knows)
        }
    }

    /// Whether the library knows a zone by its name.
    private func knows(_ zone: String) -> Bool {
        SystemTimeZones.shared.zone(zone) != nil || leniency == .zones && WindowsZones.byName[zone.lowercased()] != nil
    }

    private mutating func end(_ frame: StrictFrame) {
        switch frame.component {
        case .calendar:
            calendars += 1
            settle()
        case .zone: frame.checkZone(in: &scope)
        case .observance:
            if let last = stack.indices.last { stack[last].add(part: frame) }
            frame.require("TZOFFSETTO", in: &scope)
            frame.require("TZOFFSETFROM", in: &scope)
        case .alarm: frame.checkAlarm(in: &scope)
        case .event, .toDo, .journal:
            // It reads an event without a start, and finds no day of the calendar then.
            if frame.component == .event { frame.require("DTSTART", in: &scope) }
            frame.checkTimes(in: &scope)
        default: break
        }
    }

    /// Decides what depends on the zones of the whole calendar, and keeps its faults.
    private mutating func settle() {
        let own = scope.declared.filter { !knows($0.string) }
        if leniency != .zones {
            for (zone, line) in scope.uses where !scope.declared.contains(zone) && !knows(zone.string) {
                scope.fault(StrictFault(kind: .zone, line: line, text: zone.string))
            }
        }
        // X-WR-TIMEZONE applies to times without a zone, but not if its own VTIMEZONE is the only one and is in tzdata.
        let standard = scope.standard
        let isDefault =
            !standard.isEmpty && (knows(standard) || own.contains(ByteString(standard)))
            && (!own.isEmpty || !scope.declared.contains(ByteString(standard)))
        for (zone, line) in scope.unusable where own.contains(zone) {
            guard scope.expanded.contains(zone) || isDefault && zone.string == standard else { continue }
            scope.fault(StrictFault(kind: .zonePart, line: line, text: zone.string))
        }
        func hasZone(_ clock: StrictValue.Clock) -> Bool {
            switch clock {
            case .date: false
            case .floating: isDefault
            case .utc: true
            case .zoned(let zone): own.contains(ByteString(zone)) || knows(zone)
            }
        }
        for pair in scope.pairs {
            let isWrong =
                switch (pair.kind, pair.other) {
                case (.until, .date): leniency != .until
                case (.until, .utc): !hasZone(pair.start)
                // A repeating component is refused when its days are looked up, and with it the rest of the file.
                case (.until, _), (.listed, _): hasZone(pair.start) && !hasZone(pair.other)
                case (.end, _): hasZone(pair.start) != hasZone(pair.other)
                }
            if isWrong { scope.fault(pair.fault) }
        }
        for fault in scope.faults.values { add(fault) }
    }
}

/// What is known about one calendar while it is read.
struct StrictScope {
    /// A start and another time that have to be on clocks of the same kind.
    struct Pair {
        var start: StrictValue.Clock
        var other: StrictValue.Clock
        var kind: Kind
        var fault: StrictFault

        /// The kind of the other one: an end, the UNTIL of a rule, or one of the times of EXDATE and RDATE.
        enum Kind { case end, until, listed }
    }

    private(set) var faults: [StrictFault.Kind: StrictFault] = [:]
    /// The zones that have a VTIMEZONE, and those that times name, with the first line of each.
    var declared: Set<ByteString> = []
    var uses: [ByteString: Int] = [:]
    /// Zones with a part that cannot be expanded, with its line, and zones that are expanded for some time.
    var unusable: [ByteString: Int] = [:]
    private(set) var expanded: Set<ByteString> = []
    /// X-WR-TIMEZONE.
    var standard = ""
    var pairs: [Pair] = []

    mutating func fault(_ fault: StrictFault) {
        if faults[fault.kind].map({ $0.line > fault.line }) ?? true { faults[fault.kind] = fault }
    }

    /// Notes that the offset of a time from UTC is looked up.
    mutating func note(_ clock: StrictValue.Clock?) {
        if case .zoned(let zone)? = clock { expanded.insert(ByteString(zone)) }
    }

    mutating func missing(_ name: String, in frame: StrictFrame) {
        fault(StrictFault(kind: .missing, line: frame.line, text: name, component: frame.name.uppercased()))
    }
}

extension StrictFault {
    init(_ kind: Kind, _ line: StrictLine) { self.init(kind: kind, line: line.number, text: line.title) }
}

extension PackedName {
    static let begin = PackedName("BEGIN")
    static let end = PackedName("END")
    static let action = PackedName("ACTION")
    static let tzid = PackedName("TZID")

    init(_ text: String) {
        self.init()
        for byte in text.utf8 { append(byte) }
    }
}
