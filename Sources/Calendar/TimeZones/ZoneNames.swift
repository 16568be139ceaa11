// SPDX-License-Identifier: Apache-2.0

/// Finds the zone that a name means, judged only by the name.
package enum ZoneNames {
    /// An IANA zone, and how the name led to it.
    package struct Match: Hashable {
        package var zone: TimeZoneReference
        package var how: TimeZoneResolution.How
    }

    /// The maximum number of bytes that a name may have; no known name is longer.
    private static let longest = 512

    /// The zone of a TZID: an IANA id, an IANA id in different case or after a prefix, a Windows name, or an offset in
    /// the text.
    package static func match(_ name: String) -> Match? {
        named(name) ?? offset(in: name).map { Match(zone: fixed(seconds: $0, name: name), how: .offset) }
    }

    /// The zone of a name, without the offsets, which do not show whether there is daylight saving time.
    package static func named(_ raw: String) -> Match? {
        guard raw.utf8.count <= longest else { return nil }
        let name = trimmed(raw)
        guard !name.isEmpty else { return nil }
        // tzdata also finds `posix/Europe/Vaduz`, which is a path to a file and not an id.
        if SystemTimeZones.shared.canonicalSpelling(name) == name, let zone = TimeZoneReference(name) {
            return Match(zone: zone, how: name == raw ? .exact : .alias)
        }
        if let zone = alias(name) { return Match(zone: zone, how: .alias) }
        if let zone = windows(name) { return Match(zone: zone, how: .windows) }
        if let zone = LocalisedZones.identifier(name).flatMap({ canonical($0) }) {
            return Match(zone: zone, how: .alias)
        }
        return city(name).map { Match(zone: $0, how: .alias) }
    }

    private static func trimmed(_ raw: String) -> String {
        var text = raw[...]
        let dropped: [Character] = [" ", "\t", "\n", "\"", "'"]
        while let first = text.first, dropped.contains(first) { text = text.dropFirst() }
        while let last = text.last, dropped.contains(last) { text = text.dropLast() }
        return String(text)
    }

    private static func canonical(_ name: String) -> TimeZoneReference? {
        SystemTimeZones.shared.canonicalSpelling(name).flatMap { TimeZoneReference($0) }
    }

    private static func alias(_ name: String) -> TimeZoneReference? {
        let known: Set<ByteString> = [
            "tzone://microsoft/utc", "coordinated universal time", "z", "(utc) coordinated universal time",
            "utc+00:00", "utc-00:00", "gmt+00:00",
        ]
        if known.contains(name.lowercased()) { return TimeZoneReference("UTC") }
        if let zone = canonical(name) { return zone }
        let underscored = String(name.map { $0.is(" ") ? "_" : $0 })
        if underscored != name, let zone = canonical(underscored) { return zone }
        // /mozilla.org/20050126_1/America/Argentina/Buenos_Aires: the longest tail that is a zone.
        let parts = underscored.split(separator: "/")
        guard parts.count > 1, !name.contains("://"), !parts.contains("..") else { return nil }
        let most = name.hasPrefix("/") ? parts.count : parts.count - 1
        for length in stride(from: min(3, most), through: 1, by: -1) {
            let tail = parts.suffix(length).joined(separator: "/")
            // A single word may be a zone by chance (`/my/Japan`); after a program's prefix it is intended.
            guard length > 1 || name.hasPrefix("/") else { continue }
            if let zone = canonical(tail) { return zone }
        }
        return nil
    }

    private static func windows(_ name: String) -> TimeZoneReference? {
        var key = name.lowercased()
        if let id = WindowsZones.byName[key] { return TimeZoneReference(id) }
        // Exchange adds a number to a second zone with the same name: `Eastern Standard Time 1`.
        if let space = key.lastIndex(of: " "), key[key.index(after: space)...].allSatisfy({ $0.isASCII && $0.isNumber })
        {
            key = String(key[..<space])
            if let id = WindowsZones.byName[key] { return TimeZoneReference(id) }
        }
        // Some apps write the summer name: `Eastern Daylight Time`.
        if key.hasSuffix(" daylight time") {
            let standard = key.dropLast(" daylight time".count) + " standard time"
            if let id = WindowsZones.byName[String(standard)] { return TimeZoneReference(id) }
        }
        if let id = WindowsZones.byPlaces[WindowsZones.places(key)] { return TimeZoneReference(id) }
        if key.hasPrefix("("), let close = key.firstIndex(of: ")") {
            let places = WindowsZones.places(String(key[key.index(after: close)...]))
            if !places.isEmpty, let id = WindowsZones.byPlaces[places] { return TimeZoneReference(id) }
        }
        return nil
    }

    /// The zone named after a city: `Berlin`, or the first city in Exchange's lists, `Amsterdam, Belgrade, Berlin, …`.
    private static func city(_ name: String) -> TimeZoneReference? {
        let first = name.prefix { !$0.is(",") }.map { $0.is(" ") ? "_" : $0 }
        return cities[String(first).lowercased()].flatMap { TimeZoneReference($0) }
    }

    /// The ids by their last part, where it names only one city.
    private static let cities: [ByteString: String] = {
        let regions = ["Africa/", "America/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/"]
        var found: [ByteString: String] = [:]
        for id in SystemTimeZones.shared.identifiers where regions.contains(where: id.hasPrefix) {
            guard let last = id.split(separator: "/").last else { continue }
            let key = last.lowercased()
            found[key] = found[key] == nil ? id : ""
        }
        return found
    }()

    /// The offset, in seconds, at the beginning of a text: `(UTC+01:00) …`, `GMT +0100 …`, `(GMT+01.00) …`, `+05:30`.
    static func offset(in name: String) -> Int? {
        guard name.utf8.count <= longest else { return nil }
        var rest = name.uppercased()[...].drop { $0.is("(") || $0.is(" ") }
        let hasPrefix = rest.hasPrefix("UTC") || rest.hasPrefix("GMT")
        if hasPrefix { rest = rest.dropFirst(3) }
        rest = rest.drop { $0.is(" ") }
        guard let sign = rest.first, sign.is("+") || sign.is("-") || sign.is("\u{2212}") else {
            return hasPrefix && (rest.isEmpty || rest.first?.is(")") == true) ? 0 : nil
        }
        rest = rest.dropFirst().drop { $0.is(" ") }
        let number = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(number.count)
        var hours = 0
        var minutes = 0
        switch number.count {
        case 1, 2:
            hours = Int(number) ?? 0
            if let separator = rest.first, separator.is(":") || separator.is(".") {
                let fraction = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
                guard fraction.count == 2 else { return nil }
                minutes = Int(fraction) ?? 0
                rest = rest.dropFirst(3)
            }
        case 3, 4:
            hours = Int(number.dropLast(2)) ?? 0
            minutes = Int(number.suffix(2)) ?? 0
        default: return nil
        }
        // A number without UTC or GMT (`+1 what`) is an offset only when nothing follows it.
        guard hasPrefix || rest.isEmpty, hours <= 15, minutes <= 59 else { return nil }
        let seconds = hours * 3600 + minutes * 60
        return sign.is("+") ? seconds : -seconds
    }

    /// A zone with a fixed offset: `Etc/GMT-1` for whole hours, otherwise a definition of its own.
    static func fixed(seconds: Int, name: String) -> TimeZoneReference {
        if seconds == 0, let utc = TimeZoneReference("UTC") { return utc }
        // The sign in Etc/GMT names is reversed, as in POSIX.
        if seconds % 3600 == 0, let zone = TimeZoneReference("Etc/GMT\(seconds > 0 ? "-" : "+")\(abs(seconds) / 3600)")
        {
            return zone
        }
        let sign = seconds < 0 ? "-" : "+"
        let label = "UTC\(sign)\(padded(abs(seconds) / 3600, 2)):\(padded(abs(seconds) % 3600 / 60, 2))"
        let epoch = CivilDateTime(startOf: CivilDate(daysSinceEpoch: 0))
        return TimeZoneReference(
            TimeZoneDefinition(
                identifier: label,
                observances: [
                    .init(isDaylight: false, start: epoch, offsetFrom: seconds, offsetTo: seconds, name: label)
                ]))
    }
}
