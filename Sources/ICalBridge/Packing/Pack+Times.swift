// SPDX-License-Identifier: Apache-2.0

extension PackWriter {
    mutating func write(_ date: CivilDate) {
        write(date.year)
        write(date.month)
        write(date.day)
    }

    mutating func write(_ wall: CivilDateTime) {
        write(wall.date)
        write(wall.hour)
        write(wall.minute)
        write(wall.second)
    }

    mutating func write(_ duration: ICalDuration) {
        write(duration.days)
        write(duration.seconds)
    }

    mutating func write(_ time: EventTime) {
        switch time {
        case .date(let date):
            tag("d")
            write(date)
        case .floating(let wall):
            tag("f")
            write(wall)
        case .utc(let instant):
            tag("u")
            write(instant.seconds)
        case .zoned(let wall, let zone):
            tag("z")
            write(zone)
            write(wall)
        }
    }

    mutating func write(_ end: Event.End) {
        switch end {
        case .time(let time): write(time)
        case .duration(let duration):
            tag("p")
            write(duration)
        }
    }

    mutating func write(_ zone: TimeZoneReference) {
        if let number = zones[zone] {
            tag("k")
            return write(number)
        }
        zones[zone] = zones.count
        guard let definition = zone.definition else {
            tag("n")
            return write(zone.identifier)
        }
        tag("v")
        write(definition.identifier)
        write(definition.observances) { $0.write($1) }
    }

    private mutating func write(_ observance: TimeZoneDefinition.Observance) {
        tag(observance.isDaylight ? "d" : "s")
        write(observance.start)
        write(observance.offsetFrom)
        write(observance.offsetTo)
        field("n", observance.name)
        if let rule = observance.rule {
            tag("r")
            write(rule)
        }
        if !observance.additions.isEmpty {
            tag("a")
            write(observance.additions) { $0.write($1) }
        }
        tag(".")
    }
}

extension PackReader {
    // The bytes may come from a stranger's file: a number that would make arithmetic trap is refused.

    mutating func integer(in range: ClosedRange<Int>) throws(PackError) -> Int {
        let number = try integer()
        guard range.contains(number) else { throw failure() }
        return number
    }

    mutating func date() throws(PackError) -> CivilDate {
        CivilDate(
            uncheckedYear: try integer(in: -100_000...100_000), month: try integer(in: 1...12),
            day: try integer(in: 1...31))
    }

    mutating func wall() throws(PackError) -> CivilDateTime {
        CivilDateTime(
            uncheckedDate: try date(), hour: try integer(in: 0...23), minute: try integer(in: 0...59),
            second: try integer(in: 0...59))
    }

    mutating func instant() throws(PackError) -> Instant {
        Instant(seconds: try integer(in: -(1 << 42)...1 << 42))
    }

    mutating func duration() throws(PackError) -> ICalDuration {
        let range = -(1 << 42)...1 << 42
        return ICalDuration(days: try integer(in: range), seconds: try integer(in: range))
    }

    mutating func time() throws(PackError) -> EventTime {
        guard case .time(let time) = try end() else { throw failure() }
        return time
    }

    mutating func end() throws(PackError) -> Event.End {
        switch try tag() {
        case "d": .time(.date(try date()))
        case "f": .time(.floating(try wall()))
        case "u": .time(.utc(try instant()))
        case "z": try zonedTime()
        case "p": .duration(try duration())
        default: throw failure()
        }
    }

    private mutating func zonedTime() throws(PackError) -> Event.End {
        let zone = try whole { (reader) throws(PackError) in try reader.zone() }
        return .time(.zoned(try wall(), zone))
    }

    mutating func zone() throws(PackError) -> TimeZoneReference {
        let zone: TimeZoneReference
        switch try tag() {
        case "k":
            let number = try integer()
            guard zones.indices.contains(number) else { throw failure() }
            return zones[number]
        case "n":
            // A zone that the system's tzdata no longer has cannot be read: no other zone has its rules.
            guard let named = TimeZoneReference(try text()) else { throw failure() }
            zone = named
        case "v":
            zone = TimeZoneReference(
                TimeZoneDefinition(
                    identifier: try text(),
                    observances: try list { (reader) throws(PackError) in try reader.observance() }))
        default: throw failure()
        }
        zones.append(zone)
        return zone
    }

    private mutating func observance() throws(PackError) -> TimeZoneDefinition.Observance {
        guard let kind = try tag(), kind == "d" || kind == "s" else { throw failure() }
        var observance = TimeZoneDefinition.Observance(
            isDaylight: kind == "d", start: try wall(), offsetFrom: try integer(in: -200_000...200_000),
            offsetTo: try integer(in: -200_000...200_000))
        while let letter = try tag() {
            switch letter {
            case "n": observance.name = try text()
            case "r": observance.rule = try rule()
            case "a": observance.additions = try list { (reader) throws(PackError) in try reader.wall() }
            default: throw failure()
            }
        }
        return observance
    }
}
