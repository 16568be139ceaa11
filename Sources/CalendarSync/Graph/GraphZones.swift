// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge
internal import Synchronization

/// Windows' names of time zones, which Graph writes, and the IANA ids that entries have.
enum GraphZones {
    /// A zone as Graph keeps it.
    struct Zone: Hashable {
        /// Windows' name.
        var name: String
        /// The general IANA id of that name: what the zone is read as.
        var identifier: String
    }

    /// What an IANA id becomes; nil for one that Windows has no name for, or whose clock differs within a year from
    /// the one that Windows' name means.
    static func zone(of identifier: String, at instant: Instant) -> Zone? {
        guard let name = names[identifier], let general = self.identifier(of: name) else { return nil }
        guard general != identifier else { return Zone(name: name, identifier: general) }
        guard let own = SystemTimeZones.shared.zone(identifier), let other = SystemTimeZones.shared.zone(general) else {
            return nil
        }
        let key = ByteString("\(identifier) \(instant.seconds.floorDivided(by: 31_536_000))")
        if let known = same.withLock({ $0[key] }) { return known ? Zone(name: name, identifier: general) : nil }
        // Half a day finds every change of an offset that lasts; no zone changes for less.
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

    /// Whether a zone has the clock of its general one, by its id and the year.
    private static let same = Mutex<[ByteString: Bool]>([:])

    /// The IANA id that a name of Graph means: Windows' name, an IANA id, or a writer's own form of either; nil for
    /// custom zones (`tzone://Microsoft/Custom`) and what else says nothing.
    static func identifier(of name: String) -> String? {
        guard name.utf8.count <= 128 else { return nil }
        for id in identifiers[name.asciiLowercased] ?? [] where SystemTimeZones.shared.zone(id) != nil { return id }
        guard let zone = TimeZoneReference(named: name) else { return nil }
        // An alias of a zone with a Windows name is read as that zone, so that equal zones have one id.
        guard let windows = names[zone.identifier] else { return zone.identifier }
        return identifiers[windows.asciiLowercased]?.first { SystemTimeZones.shared.zone($0) != nil } ?? zone.identifier
    }

    /// All names of Windows, in order.
    static let allNames: [String] = rows.map { $0[0] }

    /// The IANA ids by Windows' name in lower case, the general one first.
    private static let identifiers: [ByteString: [String]] = Dictionary(
        uniqueKeysWithValues: rows.map { row in
            (row[0].asciiLowercased, [row[1]] + (row.count > 2 ? row[2].pieces(separatedBy: " ").map(String.init) : []))
        })

    /// Windows' name by IANA id.
    private static let names: [ByteString: String] = Dictionary(
        rows.flatMap { row in
            ([row[1]] + (row.count > 2 ? row[2].pieces(separatedBy: " ").map(String.init) : [])).map { ($0, row[0]) }
        }, uniquingKeysWith: { first, _ in first })

    private static let rows: [[String]] = GraphZoneTable.text.pieces(separatedBy: "\n").map {
        $0.pieces(separatedBy: "|").map(String.init)
    }
}
