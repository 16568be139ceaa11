// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

@Suite struct GraphZoneTests {
    /// The rows of an independent table; empty without the corpora.
    private static let rows: [(kind: String, from: String, to: String)] = {
        guard let file = Corpora.find("windows_zones.tsv"),
            let text = try? String(contentsOf: file, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return cells.count == 3 && !cells[1].isEmpty && cells[0].count == 1 ? (cells[0], cells[1], cells[2]) : nil
        }
    }()

    @Test(
        "Every Windows name means its general zone, and every IANA id has its Windows name",
        .needsCorpora("windows_zones.tsv"))
    func table() {
        #expect(Self.rows.count > 700)
        for row in Self.rows where SystemTimeZones.shared.zone(row.kind == "W" ? row.to : row.from) != nil {
            if row.kind == "W" {
                #expect(GraphZones.identifier(of: row.from) == row.to)
                #expect(GraphZones.identifier(of: row.from.lowercased()) == row.to)
            } else if let zone = GraphZones.zone(of: row.from, at: Instant(seconds: 1_790_000_000)) {
                #expect(zone.name == row.to)
            } else {
                // Only where this machine's tzdata has another clock for the two.
                let general = Self.rows.first { $0.kind == "W" && $0.from == row.to }?.to ?? ""
                let differs = (0..<53).contains { week in
                    let at = Instant(seconds: 1_790_000_000 + week * 604_800)
                    return SystemTimeZones.shared.zone(row.from)?.offset(at: at)
                        != SystemTimeZones.shared.zone(general)?.offset(at: at)
                }
                #expect(differs, "\(row.from) has the clock of \(general), and no name.")
            }
        }
    }

    @Test("What a zone becomes is read back as the same zone")
    func roundTrip() throws {
        for name in GraphZones.allNames {
            guard let id = GraphZones.identifier(of: name) else { continue }
            let zone = try #require(GraphZones.zone(of: id, at: Instant(seconds: 1_790_000_000)), "\(id)")
            #expect(zone.identifier == id && zone.name == name)
        }
    }

    @Test("Microsoft's odd names are read, and a meaningless one is not a zone")
    func oddities() {
        #expect(GraphZones.identifier(of: "tzone://Microsoft/Utc") == "Etc/UTC")
        #expect(GraphZones.identifier(of: "Europe/Vienna") == "Europe/Berlin")
        #expect(GraphZones.identifier(of: "W. Europe Standard Time 1") == "Europe/Berlin")
        #expect(GraphZones.identifier(of: "tzone://Microsoft/Custom") == nil)
        #expect(GraphZones.identifier(of: "Customized Time Zone") == nil)
        #expect(GraphZones.identifier(of: "../../etc/passwd") == nil)
        #expect(GraphZones.identifier(of: String(repeating: "x", count: 100_000)) == nil)
    }
}
