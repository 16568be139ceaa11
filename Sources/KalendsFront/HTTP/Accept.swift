// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension CalendarForm {
    /// The form that a request prefers by its Accept header (RFC 9110 section 12.5.1).
    ///
    /// The form is iCalendar unless another one is named and preferred: calendar apps send arbitrary values in this
    /// header, and are never refused for them.
    init(accept values: [String]) {
        var best = (form: CalendarForm.iCalendar, quality: 0.0)
        var calendarQuality: (specificity: Int, quality: Double) = (0, 0)
        for (type, quality) in QualityValue.ranges(in: values) {
            if let specificity = specificity(of: type), specificity >= calendarQuality.specificity {
                calendarQuality = (specificity, quality)
            } else if let form = Self.allCases.first(where: { $0.mediaType == type }), quality > best.quality {
                best = (form, quality)
            }
        }
        self = best.quality > calendarQuality.quality ? best.form : .iCalendar

        /// How specifically a media range names iCalendar; nil when it does not.
        func specificity(of range: String) -> Int? {
            switch range {
            case "*/*": 1
            case "text/*": 2
            case "text/calendar": 3
            default: nil
            }
        }
    }
}

/// A browser's wish for a page.
enum PagePreference {
    /// Whether a request names HTML, and no calendar before it: a browser does, a program accepts anything or names what
    /// it wants.
    static func isIn(accept values: [String]) -> Bool {
        var (page, calendar) = (0.0, 0.0)
        for (type, quality) in QualityValue.ranges(in: values) {
            if type == "text/html" { page = max(page, quality) }
            if CalendarForm.allCases.contains(where: { $0.mediaType == type }) { calendar = max(calendar, quality) }
        }
        return page > calendar
    }
}

/// Reads the weight of a list element (RFC 9110 section 12.4.2).
enum QualityValue {
    /// The media ranges of a header field, in lower case, with their weights.
    static func ranges(in values: [String]) -> [(type: String, quality: Double)] {
        values.flatMap { $0.pieces(separatedBy: ",") }.compactMap { range in
            let parts = range.pieces(separatedBy: ";").map(\.withoutOuterBlanks)
            guard let type = parts.first?.asciiLowercased else { return nil }
            let parameter = parts.dropFirst().first { $0.hasPrefix("q=") || $0.hasPrefix("Q=") }
            return (type, parameter.map { read($0.dropFirst(2)) } ?? 1)
        }
    }

    /// A weight from 0 to 1; 0 for text that is not a weight.
    static func read(_ text: some StringProtocol) -> Double {
        // The RFC allows five characters; some programs write a few more.
        guard text.utf8.count <= 16, let value = Double(String(text)) else { return 0 }
        return value
    }
}
