// SPDX-License-Identifier: Apache-2.0

internal import CLibical

/// The state of libical that holds for the whole process, set once before anything is parsed.
enum LibicalSetup {
    /// It runs the first time it is read; Swift makes sure that this happens once, whatever the threads.
    private static let once: Void = {
        // A TZID must never become the path of a file: libical would open "../../etc/passwd" as a zone.
        icaltimezone_set_builtin_tzdata(1)
        unsafe set_zone_directory("/nonexistent")
        unsafe icaltimezone_set_tzid_prefix("")
        icalerror_set_errors_are_fatal(0)
        // The table of zones is made without a lock by whoever asks first, so it is asked for here.
        unsafe _ = icaltimezone_get_utc_timezone()
    }()

    static func ensure() { _ = once }
}
