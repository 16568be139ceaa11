// SPDX-License-Identifier: Apache-2.0

/// One fault in a person's settings: where it is (RFC 6901), its kind, and what is wrong.
public struct OfficeSettingsFault: Error, Hashable, Sendable {
    public enum Code: String, Hashable, Sendable { case empty, tooLong, unknownZone, required, outOfRange, coordinates }

    public let pointer: String
    public let code: Code
    public let message: String
}

extension OfficeSettings {
    /// The longest title, in characters as a person counts them.
    public static let longestTitle = 50
    public static let monthlyGoals = 1...31
    /// The maximum number of dates that the list of holidays may have.
    public static let mostHolidays = 1000

    /// The same settings with title and address trimmed; an address of only spaces becomes nil.
    public func trimmed() -> OfficeSettings {
        var settings = self
        settings.officeTitle = officeTitle.trimmed
        settings.remoteTitle = remoteTitle.trimmed
        settings.officeAddress = officeAddress?.trimmed
        if settings.officeAddress?.isEmpty == true { settings.officeAddress = nil }
        return settings
    }

    /// The faults of these settings after `trimmed()`; empty when they are valid.
    public func faults(isZone: (String) -> Bool) -> [OfficeSettingsFault] {
        var faults: [OfficeSettingsFault] = []
        for (pointer, title) in [("/officeTitle", officeTitle), ("/remoteTitle", remoteTitle)] {
            if title.isEmpty {
                faults.append(
                    OfficeSettingsFault(pointer: pointer, code: .empty, message: "A title has at least one character."))
            } else if title.count > Self.longestTitle {
                faults.append(
                    OfficeSettingsFault(
                        pointer: pointer, code: .tooLong,
                        message: "A title has at most \(Self.longestTitle) characters."))
            }
        }
        for (pointer, zone) in [("/deviceTimeZone", deviceTimeZone), ("/homeOfficeTimeZone", homeOfficeTimeZone)] {
            if let zone, !isZone(zone) {
                faults.append(
                    OfficeSettingsFault(
                        pointer: pointer, code: .unknownZone, message: "This is not an IANA time zone."))
            }
        }
        if timeZoneMode == .homeOffice, homeOfficeTimeZone == nil {
            faults.append(
                OfficeSettingsFault(
                    pointer: "/homeOfficeTimeZone", code: .required,
                    message: "The mode homeOffice needs the home office's time zone."))
        }
        if !Self.monthlyGoals.contains(monthlyGoal) {
            faults.append(
                OfficeSettingsFault(
                    pointer: "/monthlyGoal", code: .outOfRange, message: "A month's goal is 1 to 31 days."))
        }
        if holidays.count > Self.mostHolidays {
            faults.append(
                OfficeSettingsFault(
                    pointer: "/holidays", code: .outOfRange,
                    message: "There are at most \(Self.mostHolidays) holidays."))
        }
        if let officeAddress, officeAddress.looksLikeCoordinates {
            faults.append(
                OfficeSettingsFault(
                    pointer: "/officeAddress", code: .coordinates,
                    message: "An address must be words: coordinates are not kept."))
        }
        return faults
    }
}

extension String {
    /// The text without white space at either end.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }

    /// Whether this is only a pair of numbers, or an address with the scheme `geo`.
    fileprivate var looksLikeCoordinates: Bool {
        if prefix(4).lowercased() == "geo:" { return true }
        let separators = Array(",; °NSEW")
        let numbers = split { character in separators.contains(character) }
        return numbers.count == 2 && numbers.allSatisfy { $0.utf8.contains(UInt8(ascii: ".")) && Double($0) != nil }
    }
}
