// SPDX-License-Identifier: Apache-2.0

import CLibical
import Glibc

/// The baseline of the comparison: a tree of components as libical parsed it.
@safe
final class LibicalTree {
    private let raw: OpaquePointer

    init?(_ text: [UInt8]) {
        // The text ends with a NUL and is only read during the call.
        let parsed = unsafe (text + [0]).withUnsafeBufferPointer { bytes -> OpaquePointer? in
            guard let base = bytes.baseAddress else { return nil }
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                unsafe icalparser_parse_string($0)
            }
        }
        guard let parsed = unsafe parsed else { return nil }
        unsafe raw = parsed
    }

    deinit { unsafe icalcomponent_free(raw) }

    /// Prints the tree and returns the number of bytes.
    func print() -> Int {
        // The string belongs to the caller, who frees it.
        guard let text = unsafe icalcomponent_as_ical_string_r(raw) else { return 0 }
        defer { unsafe icalmemory_free_buffer(text) }
        return unsafe Int(strlen(text))
    }
}

/// libical's iterator over `FREQ=WEEKLY;BYDAY=MO,WE,FR`.
enum LibicalRule {
    /// Counts occurrences as instants; times follow the clock of a zone from libical's own table.
    static func count(from: Int, to: Int, zone: String?) -> Int {
        let clock = unsafe zone.flatMap { unsafe icaltimezone_get_builtin_timezone($0) }
        let utc = unsafe icaltimezone_get_utc_timezone()
        var start = unsafe icaltime_from_timet_with_zone(time_t(from), 0, utc)
        if let clock = unsafe clock { unsafe start = icaltime_convert_to_zone(start, clock) }
        let rule = unsafe icalrecurrencetype_from_string("FREQ=WEEKLY;BYDAY=MO,WE,FR")
        // We own the iterator until it is freed.
        guard let iterator = unsafe icalrecur_iterator_new(rule, start) else { return 0 }
        defer { unsafe icalrecur_iterator_free(iterator) }
        var count = 0
        while true {
            let next = unsafe icalrecur_iterator_next(iterator)
            guard unsafe icaltime_is_null_time(next) == 0 else { break }
            guard unsafe icaltime_as_timet_with_zone(next, clock ?? utc) < time_t(to) else { break }
            count += 1
        }
        return count
    }
}
