// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension CalendarForm {
    /// The form that a request prefers by its Accept header (RFC 9110 section 12.5.1).
    ///
    /// iCalendar unless another one is named and wanted more: calendar apps send what they like in this header, and are
    /// never refused for it.
    init(accept values: [String]) {
        var best = (form: CalendarForm.iCalendar, quality: 0.0)
        var calendarQuality: (specificity: Int, quality: Double) = (0, 0)
        for range in values.flatMap({ $0.split(separator: ",") }) {
            let parts = range.split(separator: ";").map { $0.trimmingWhitespace }
            guard let type = parts.first?.lowercased() else { continue }
            let parameter = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
            let quality = parameter.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if let specificity = ["*/*": 1, "text/*": 2, "text/calendar": 3][type],
                specificity >= calendarQuality.specificity
            {
                calendarQuality = (specificity, quality)
            } else if let form = Self.allCases.first(where: { $0.mediaType == type }), quality > best.quality {
                best = (form, quality)
            }
        }
        self = best.quality > calendarQuality.quality ? best.form : .iCalendar
    }
}

extension Substring {
    fileprivate var trimmingWhitespace: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...end]
    }
}
