// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge
internal import Synchronization

/// The Windows names of time zones, which Graph writes, and the IANA ids that entries have.
enum GraphZones {
    /// A zone as Graph names it.
    struct Zone: Hashable {
        /// The Windows name.
        var name: String
        /// The general IANA id of that name, as which the zone is read.
        var identifier: String
    }

    /// Returns the zone for an IANA id; nil for an id without a Windows name, or whose clock differs within a year from
    /// that of the Windows name.
    static func zone(of identifier: String, at instant: Instant) -> Zone? {
        guard let name = names[identifier], let general = self.identifier(of: name) else { return nil }
        guard general != identifier else { return Zone(name: name, identifier: general) }
        guard let own = SystemTimeZones.shared.zone(identifier), let other = SystemTimeZones.shared.zone(general) else {
            return nil
        }
        let key = ByteString("\(identifier) \(instant.seconds.floorDivided(by: 31_536_000))")
        if let known = same.withLock({ $0[key] }) { return known ? Zone(name: name, identifier: general) : nil }
        // Steps of half a day find every change of an offset that lasts; no zone changes for less.
        let differs = (0..<1464).contains { step in
            let year = instant.seconds.floorDivided(by: 31_536_000)
            let at = Instant(seconds: year * 31_536_000 + step * 43_200)
            return own.offset(at: at) != other.offset(at: at)
        }
        same.withLock { same in
            if same.count > 10_000 { same = [:] }
            same[key] = !differs
        }
        return differs ? nil : Zone(name: name, identifier: general)
    }

    /// Whether a zone has the same clock as its general one, by its id and the year.
    private static let same = Mutex<[ByteString: Bool]>([:])

    /// Returns the IANA id that a name in Graph means: a Windows name, an IANA id, or a program's own form of either;
    /// nil for custom zones (`tzone://Microsoft/Custom`) and for other names without a meaning.
    static func identifier(of name: String) -> String? {
        guard name.utf8.count <= 128 else { return nil }
        for id in identifiers[name.asciiLowercased] ?? [] where SystemTimeZones.shared.zone(id) != nil { return id }
        guard let zone = TimeZoneReference(named: name) else { return nil }
        // An alias of a zone with a Windows name is read as that zone, so that equal zones have one id.
        guard let windows = names[zone.identifier] else { return zone.identifier }
        return identifiers[windows.asciiLowercased]?.first { SystemTimeZones.shared.zone($0) != nil } ?? zone.identifier
    }

    /// All Windows names, in order.
    static let allNames: [String] = rows.map { $0[0] }

    /// The IANA ids by Windows name in lower case, the general one first.
    private static let identifiers: [ByteString: [String]] = Dictionary(
        uniqueKeysWithValues: rows.map { row in
            (row[0].asciiLowercased, [row[1]] + (row.count > 2 ? row[2].pieces(separatedBy: " ").map(String.init) : []))
        })

    /// The Windows name by IANA id.
    private static let names: [ByteString: String] = Dictionary(
        rows.flatMap { row in
            ([row[1]] + (row.count > 2 ? row[2].pieces(separatedBy: " ").map(String.init) : [])).map { ($0, row[0]) }
        }, uniquingKeysWith: { first, _ in first })

    private static let rows: [[String]] = GraphZoneTable.text.pieces(separatedBy: "\n").map {
        $0.pieces(separatedBy: "|").map(String.init)
    }
}
