// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Calendar
@testable import ICalBridge

@Suite("The spelling of zones' names")
struct ZoneSpellingTests {
    @Test("Every zone of tzdata is found in any case, and only those", .enabled(if: SystemTimeZones.shared.isAvailable))
    func spelling() {
        let directory = SystemTimeZones.shared.directory
        // The first spelling that differs makes a list, from which every later answer comes; before it, files answer.
        let zones = SystemTimeZones(directory: directory)
        for name in zones.identifiers { #expect(zones.canonicalSpelling(name) == name) }
        for name in zones.identifiers {
            #expect(zones.canonicalSpelling(name.lowercased()) == name)
            #expect(zones.canonicalSpelling(name.uppercased()) == name)
        }
        for name in [
            "Factory", "Etc/Unknown", "posixrules", "localtime", "posix/Europe/Vienna", "right/UTC", "Europe",
            "Europe/", "/Europe/Vienna", "Europe//Vienna", "Europe/../Europe/Vienna", "../zoneinfo/UTC", "UTC\0",
            "Europe/Nowhere", "",
        ] {
            #expect(SystemTimeZones(directory: directory).canonicalSpelling(name) == nil, "\(name)")
            #expect(zones.canonicalSpelling(name) == nil, "\(name)")
        }
    }
}
