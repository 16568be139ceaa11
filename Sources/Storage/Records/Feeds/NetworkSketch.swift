// SPDX-License-Identifier: Apache-2.0

/// An estimate of how many networks accesses came from on a day and the day before: a bit for each of 48 classes.
///
/// Different networks may share a bit, so it counts too few and never too many. It has sixteen bytes, however many
/// networks there were. When its count is suspicious, the networks are counted exactly.
struct NetworkSketch: Hashable {
    /// The day is in the upper 16 bits, the classes are below.
    private(set) var latest = 0
    private(set) var before = 0

    private static let classes: UInt64 = 48
    private static let mask = 1 << 48 - 1

    /// - Parameter day: days since 1970-01-01 in UTC.
    /// - Returns: whether it is the first network of its class on that day.
    mutating func add(_ network: NetworkPrefix, on day: Int) -> Bool {
        let mixed = (network.bits ^ network.bits >> 29) &* 0x9E37_79B9_7F4A_7C15
        let bit = 1 << Int(truncatingIfNeeded: (mixed >> 32 &* Self.classes) >> 32)
        let name = Self.name(day)
        if latest & ~Self.mask == name {
            defer { latest |= bit }
            return latest & bit == 0
        }
        if before & ~Self.mask == name {
            defer { before |= bit }
            return before & bit == 0
        }
        before = latest & ~Self.mask == Self.name(day - 1) ? latest : 0
        latest = name | bit
        return true
    }

    /// Returns the classes of a day and the day before.
    func classes(upTo day: Int) -> Int {
        func classes(of one: Int) -> Int {
            let name = one & ~Self.mask
            return name == Self.name(day) || name == Self.name(day - 1) ? one & Self.mask : 0
        }
        return classes(of: latest) | classes(of: before)
    }

    /// Returns the day in the form of the upper bits, never 0, so that 0 means no day.
    private static func name(_ day: Int) -> Int { (day & 0x3FFF | 0x4000) << 48 }
}
