// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// A day of the week, named as in the settings.
public enum OfficeWeekday: String, Hashable, Sendable, Codable, CaseIterable {
    case mon, tue, wed, thu, fri, sat, sun
}

extension CivilDate {
    public var dayOfWeek: OfficeWeekday { OfficeWeekday.allCases[mondayBasedWeekday] }
}
