// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The VTIMEZONE components that are the zone of their name, as was found when an object with one was read.
///
/// The objects of a calendar mostly have the same one, and to compare its rules with the zone's takes longer than to read
/// the event.
final class NamedZones: Sendable {
    static let shared = NamedZones()

    /// The maximum size in bytes of all components, and of one.
    private static let (limit, longest) = (256 << 10, 8 << 10)

    private let known = Mutex(LeastRecentlyUsed<ObjectTree, Bool>(limit: limit))

    /// Whether a reader makes the same of an object without its zones.
    func areAll(_ zones: [ObjectTree]) -> Bool {
        known.withLock { known in zones.allSatisfy { known.find($0) != nil } }
    }

    /// Takes notice of how a reader resolved the zone of an object that has one.
    func note(_ zones: [ObjectTree], _ resolutions: [TimeZoneResolution]) {
        guard zones.count == 1, let zone = zones.first, let name = zone.line("TZID")?.property?.value.trimmingSpaces
        else { return }
        let identifier = TextValue.decoded(name)
        // The name is the zone's own, and the rules are the zone's: without them, the name says the same.
        guard resolutions.contains(where: { $0.tzid == identifier && $0.how == .exact }) else { return }
        let size = zone.text.count
        guard size <= Self.longest else { return }
        known.withLock { $0.keep(true, for: zone, cost: size) }
    }
}
