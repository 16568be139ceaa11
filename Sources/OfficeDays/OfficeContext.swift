// SPDX-License-Identifier: Apache-2.0

/// What the engine needs to know about the world: zones, and the holidays of a followed calendar.
public struct OfficeContext: Sendable {
    /// The clock of an IANA zone, nil for a name that is not known.
    public var clock: @Sendable (String) -> (any OfficeClock)?
    /// The zone of a person who named none.
    public var fallbackZone: String
    public var holidays: Set<OfficeDate>

    public init(
        fallbackZone: String = "UTC", holidays: Set<OfficeDate> = [],
        clock: @escaping @Sendable (String) -> (any OfficeClock)?
    ) {
        self.fallbackZone = fallbackZone
        self.holidays = holidays
        self.clock = clock
    }

    /// The clock of a zone; a zone that the machine has lost goes by UTC.
    func clockOrUTC(_ zone: String) -> any OfficeClock { clock(zone) ?? UTCClock() }
}
