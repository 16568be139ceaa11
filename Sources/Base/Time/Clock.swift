// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Reads the clock: milliseconds since 1970. It is passed as an argument everywhere, so that tests choose the time.
package typealias Clock = @Sendable () -> Int

/// Reads the machine's clock.
package func systemClock() -> Int {
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

extension Int {
    package func floorDivided(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
