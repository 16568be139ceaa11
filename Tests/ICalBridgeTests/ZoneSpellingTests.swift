// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("The spelling of zones' names")
struct ZoneSpellingTests {
    @Test("Every zone of tzdata is found in any case, and only those", .enabled(if: SystemTimeZones.shared.isAvailable))
    func spelling() {
        // Nobody has asked this one for its list, which the first other spelling needs.
        let zones = SystemTimeZones(directory: SystemTimeZones.shared.directory)
        let names = Set(zones.identifiers.map { $0.lowercased() })
        for name in zones.identifiers {
            #expect(zones.canonicalSpelling(name) == name)
            for other in [name.lowercased(), name.uppercased()] {
                #expect(zones.canonicalSpelling(other) == name)
            }
        }
        for name in [
            "Factory", "Etc/Unknown", "posixrules", "localtime", "posix/Europe/Vienna", "right/UTC", "Europe",
            "Europe/", "/Europe/Vienna", "Europe//Vienna", "Europe/../Europe/Vienna", "../zoneinfo/UTC", "UTC\0",
            "Europe/Nowhere", "",
        ] {
            #expect(zones.canonicalSpelling(name) == nil || names.contains(name.lowercased()), "\(name)")
        }
    }
}
