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
        for range in values.flatMap({ $0.pieces(separatedBy: ",") }) {
            let parts = range.pieces(separatedBy: ";").map(\.withoutOuterBlanks)
            guard let type = parts.first?.asciiLowercased else { continue }
            let parameter = parts.dropFirst().first { $0.hasPrefix("q=") || $0.hasPrefix("Q=") }
            let quality = parameter.map { QualityValue.read($0.dropFirst(2)) } ?? 1
            if let specificity = specificity(of: type), specificity >= calendarQuality.specificity {
                calendarQuality = (specificity, quality)
            } else if let form = Self.allCases.first(where: { $0.mediaType == type }), quality > best.quality {
                best = (form, quality)
            }
        }
        self = best.quality > calendarQuality.quality ? best.form : .iCalendar

        /// How closely a media range means iCalendar; nil when it does not.
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

/// The weight of an element of a list (RFC 9110 section 12.4.2).
enum QualityValue {
    /// From 0 to 1; 0 for what is not a weight.
    static func read(_ text: some StringProtocol) -> Double {
        // The RFC has five characters; some programs write a few more.
        guard text.utf8.count <= 16, let value = Double(String(text)) else { return 0 }
        return value
    }
}
