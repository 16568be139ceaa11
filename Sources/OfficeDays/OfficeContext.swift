// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// The facts that the engine needs from outside: zones, and the holidays of a followed calendar.
public struct OfficeContext: Sendable {
    /// Returns the clock of an IANA zone; nil for an unknown name.
    public var clock: @Sendable (String) -> (any OfficeClock)?
    /// The zone for a person who has not named one.
    public var fallbackZone: String
    public var holidays: Set<CivilDate>

    public init(
        fallbackZone: String = "UTC", holidays: Set<CivilDate> = [],
        clock: @escaping @Sendable (String) -> (any OfficeClock)?
    ) {
        self.fallbackZone = fallbackZone
        self.holidays = holidays
        self.clock = clock
    }

    /// The clock of a zone; UTC for a zone that the machine no longer knows.
    func clockOrUTC(_ zone: String) -> any OfficeClock { clock(zone) ?? UTCClock() }
}
