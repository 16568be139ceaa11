// SPDX-License-Identifier: Apache-2.0

internal import CLibical

/// The process-wide state of libical, set once before anything is parsed.
enum LibicalSetup {
    /// Runs the first time it is read; Swift makes sure that this happens once, on whatever thread.
    private static let once: Void = {
        // A TZID must never become the path of a file: libical would open "../../etc/passwd" as a zone.
        icaltimezone_set_builtin_tzdata(1)
        unsafe set_zone_directory("/nonexistent")
        unsafe icaltimezone_set_tzid_prefix("")
        icalerror_set_errors_are_fatal(0)
        // libical builds its table of zones without a lock at the first access, so that access happens here.
        unsafe _ = icaltimezone_get_utc_timezone()
    }()

    static func ensure() { _ = once }
}
