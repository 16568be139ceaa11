// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// A time zone as pages need it: its name, and its offset from UTC at an instant.
public struct PageZone: Sendable {
    public let name: String
    private let offset: @Sendable (_ seconds: Int) -> Int

    /// - Parameter offset: seconds east of UTC, at an instant in seconds since 1970.
    public init(name: String, offset: @escaping @Sendable (_ seconds: Int) -> Int) {
        self.name = name
        self.offset = offset
    }

    public static let utc = PageZone(name: "UTC") { _ in 0 }

    /// - Parameter instant: milliseconds since 1970.
    public func local(_ instant: Int) -> LocalTime {
        let seconds = instant.floorDivided(by: 1000)
        let offset = offset(seconds)
        let local = seconds + offset
        let day = local.floorDivided(by: 86_400)
        return LocalTime(day: CivilDate(daysSinceEpoch: day), second: local - day * 86_400, offset: offset)
    }
}

/// A local date and time.
public struct LocalTime: Sendable {
    public let day: CivilDate
    /// Seconds from the start of the day.
    public let second: Int
    /// The offset in seconds east of UTC.
    public let offset: Int

    public var hour: Int { second / 3600 }
    public var minute: Int { second / 60 % 60 }

    /// The time in RFC 3339.
    public var iso: String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let sign = offset < 0 ? "-" : "+"
        let minutes = abs(offset) / 60
        return
            "\(day.description)T\(two(hour)):\(two(minute)):\(two(second % 60))\(sign)\(two(minutes / 60)):\(two(minutes % 60))"
    }
}
