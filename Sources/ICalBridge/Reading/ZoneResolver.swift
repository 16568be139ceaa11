// SPDX-License-Identifier: Apache-2.0

/// Finds the zones that the times of one calendar name, and records how each was found.
struct ZoneResolver {
    /// The form that a time with this zone gets.
    enum Zone: Hashable {
        case utc
        case zone(TimeZoneReference)
        /// The zone is not known.
        case floating
    }

    private(set) var resolutions: [TimeZoneResolution] = []
    /// The zones by their number, from 1; libical sees only `Z1`, never the name.
    private var zones: [Zone] = []
    private var numbers: [ByteString: Int] = [:]
    private let definitions: [ByteString: TimeZoneDefinition.Read]
    private let assumed: TimeZoneReference?
    /// X-WR-TIMEZONE, for times that name no zone.
    private let calendarZone: (name: String, match: ZoneNames.Match)?
    private var calendarZoneIsUsed = false

    init(definitions: [TimeZoneDefinition.Read], calendarZone: String?, assumed: String?) {
        self.definitions = Dictionary(
            definitions.map { ($0.definition.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        self.assumed = assumed.flatMap { ZoneNames.match($0)?.zone }
        self.calendarZone = calendarZone.flatMap { name in ZoneNames.match(name).map { (name, $0) } }
    }

    subscript(number: Int) -> Zone { zones.indices.contains(number - 1) ? zones[number - 1] : .floating }

    /// The number of the zone with this TZID.
    mutating func number(of tzid: String, line: Int, log: inout ProblemLog) -> Int {
        if let known = numbers[tzid] { return known }
        let (zone, resolution) = resolve(tzid, line: line, log: &log)
        zones.append(zone)
        numbers[tzid] = zones.count
        if resolutions.count < 1000 { resolutions.append(resolution) }
        return zones.count
    }

    /// The zone of times that name none: X-WR-TIMEZONE, as Google uses it; without it they stay floating.
    mutating func floatingZone() -> Zone {
        guard let calendarZone else { return .floating }
        if !calendarZoneIsUsed {
            calendarZoneIsUsed = true
            resolutions.append(
                TimeZoneResolution(
                    tzid: calendarZone.name, resolvedTo: calendarZone.match.zone.identifier, how: .calendar))
        }
        return Self.form(calendarZone.match.zone)
    }

    /// The calendar's home zone: what it says itself comes before what its reader assumes.
    private var homes: [TimeZoneReference] { [calendarZone?.match.zone, assumed].compactMap { $0 } }

    private func resolve(_ tzid: String, line: Int, log: inout ProblemLog) -> (Zone, TimeZoneResolution) {
        func found(_ zone: TimeZoneReference, _ how: TimeZoneResolution.How) -> (Zone, TimeZoneResolution) {
            (Self.form(zone), TimeZoneResolution(tzid: tzid, resolvedTo: zone.identifier, how: how))
        }
        let text = ProblemLog.short(tzid)
        if let own = definitions[tzid] ?? definitions[TextValue.decoded(tzid.utf8)] {
            // If the TZID was not written for other rules, these are the zone that they were before.
            if let written = own.definition.beforeWriting { return found(TimeZoneReference(written), .vtimezone) }
            if let match = ZoneNames.named(tzid) {
                if own.definition.describes(match.zone.rules) { return found(match.zone, match.how) }
                if own.definition.isMeanTime {
                    log.add(
                        .warning, "zone-guessed", line: line, text: text,
                        .zoneSolar,
                        """
                        The file defines this zone by mean solar time, which nobody has used for a century; \
                        \(match.zone.identifier, .zone) was read.
                        """)
                    return found(match.zone, match.how)
                }
            }
            if let location = own.location, let match = ZoneNames.named(location),
                own.definition.describes(match.zone.rules)
            {
                return found(match.zone, .alias)
            }
            // A known zone name with other rules is the writer's own zone, even if another zone has the same rules.
            let identical = ZoneNames.named(tzid) == nil ? own.definition.findIdentical() : nil
            return found(identical ?? TimeZoneReference(own.definition), .vtimezone)
        }
        if var match = ZoneNames.match(tzid) {
            // If the calendar's zone or the assumed zone is one of those that a Windows name can mean, it is chosen.
            if match.how == .windows,
                let home = homes.first(where: { WindowsTerritories.does(tzid, mean: $0.identifier) })
            {
                match.zone = home
            }
            switch match.how {
            case .exact: break
            case .offset:
                log.add(
                    .warning, "zone-guessed", line: line, text: text, .zoneByOffset,
                    "The file does not define this zone; its times were read with the offset in its name, all year.")
            default:
                log.add(
                    .repaired, "zone-guessed", line: line, text: text, .zoneGuessed,
                    "The file does not define this zone, which was read as \(match.zone.identifier, .zone).")
            }
            return found(match.zone, match.how)
        }
        if let assumed = homes.first {
            log.add(
                .warning, "zone-unknown", line: line, text: text, .zoneAssumed,
                "The file does not define this zone and its name says nothing; \(assumed.identifier, .zone) was assumed."
            )
            return found(assumed, .assumed)
        }
        log.add(
            .warning, "zone-unknown", line: line, text: text, .zoneUnknown,
            "The file does not define this zone and its name says nothing; its times were left without a zone.")
        return (.floating, TimeZoneResolution(tzid: tzid, resolvedTo: nil, how: .assumed))
    }

    /// UTC under any of its names becomes `.utc`.
    private static func form(_ zone: TimeZoneReference) -> Zone {
        let names: Set<ByteString> = [
            "UTC", "Etc/UTC", "GMT", "Etc/GMT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal", "UCT", "Etc/UCT",
        ]
        return zone.definition == nil && names.contains(zone.identifier) ? .utc : .zone(zone)
    }
}
