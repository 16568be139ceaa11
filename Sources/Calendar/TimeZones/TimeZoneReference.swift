// SPDX-License-Identifier: Apache-2.0

/// The zone of a time: one of the system's zones by its IANA id, or one that a file defines.
public struct TimeZoneReference: Hashable, Sendable {
    /// The data that all times of a zone share, so that each time holds only a reference to it.
    private final class Zone: Sendable {
        let identifier: String
        /// The rules of a file's own zone.
        let defined: DefinedTimeZone?
        let rules: any TimeZoneRules

        init(_ system: SystemTimeZone) { (identifier, defined, rules) = (system.identifier, nil, system) }

        init(_ identifier: String, _ defined: DefinedTimeZone) {
            (self.identifier, self.defined, rules) = (identifier, defined, defined)
        }
    }

    private let zone: Zone

    /// The IANA id, or the TZID in the file.
    public var identifier: String { zone.identifier }
    /// The file's own rules, when no IANA zone has the same rules.
    public var definition: TimeZoneDefinition? { zone.defined?.definition }
    /// Whether it has the file's own rules.
    package var isDefined: Bool { zone.defined != nil }
    /// The TZID in what is written: the IANA id, or a name that belongs to the file's own rules only, made once.
    package func writtenIdentifier(_ name: (TimeZoneDefinition) -> String) -> String {
        zone.defined?.writtenIdentifier(name) ?? zone.identifier
    }
    /// The rules that convert the zone's times.
    public var rules: any TimeZoneRules { zone.rules }

    /// A zone of the system's tzdata, links included; nil when tzdata has no zone with that name.
    public init?(_ identifier: String) {
        guard let zone = SystemTimeZones.shared.zone(identifier) else { return nil }
        self.init(zone)
    }

    public init(_ zone: SystemTimeZone) {
        self.zone = Zone(zone)
    }

    /// The zone that a name identifies: an IANA id in upper or lower case, a Windows name, or a display name of Windows
    /// or Exchange; nil for an unknown name or only an offset.
    package init?(named name: String) {
        guard let zone = ZoneNames.named(name)?.zone, zone.definition == nil else { return nil }
        self = zone
    }

    /// A zone with the rules of a VTIMEZONE.
    public init(_ definition: TimeZoneDefinition) {
        zone = Zone(definition.identifier.withBoundedMarks, DefinedTimeZone(definition))
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.zone === b.zone || a.identifier == b.identifier && a.definition == b.definition
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension TimeZoneReference: Codable {
    private enum CodingKeys: String, CodingKey { case identifier, definition }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let definition = try container.decodeIfPresent(TimeZoneDefinition.self, forKey: .definition) {
            self.init(definition)
            return
        }
        let identifier = try container.decode(String.self, forKey: .identifier)
        guard let zone = SystemTimeZones.shared.zone(identifier) else {
            throw DecodingError.dataCorruptedError(
                forKey: .identifier, in: container, debugDescription: "No zone \(identifier) in the system's tzdata.")
        }
        self.init(zone)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(identifier, forKey: .identifier)
        try container.encodeIfPresent(definition, forKey: .definition)
    }
}
