// SPDX-License-Identifier: Apache-2.0

/// What some bytes are, as far as a calendar reader cares.
public enum SourceFormat: String, Hashable, Sendable, Codable {
    /// One VCALENDAR (RFC 5545).
    case calendar
    /// More than one VCALENDAR in one file.
    case calendars
    /// Events or to-dos without a VCALENDAR around them.
    case components
    /// vCalendar 1.0 of 1996, which older phones write.
    case vCalendar1 = "vcalendar-1.0"
    /// A calendar as JSON (RFC 7265).
    case jCal = "jcal"
    case json
    case html
    /// Other XML, a calendar as XML (RFC 6321) among it.
    case xml
    /// A table with a column of starts (RFC 4180).
    case csv
    case contacts
    case empty
    case binary
    /// Text that is none of these.
    case text
}

extension SourceFormat {
    /// What the bytes are when they hold no component at all; nil when they may be a calendar.
    ///
    /// Reads the beginning, and looks once through all of it for `BEGIN:`.
    init?(notACalendar bytes: [UInt8]) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let first = bytes[start...].firstIndex(where: { $0 > 32 }) else {
            self = .empty
            return
        }
        guard !bytes.containsComponent else { return nil }
        let head = bytes[first..<min(first + 512, bytes.count)]
        let text = String(decoding: head, as: UTF8.self).lowercased()
        switch bytes[first] {
        case UInt8(ascii: "<"):
            self = text.contains("<!doctype html") || text.contains("<html") || !text.hasPrefix("<?xml") ? .html : .xml
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            self = text.contains("\"vcalendar\"") ? .jCal : .json
        default:
            let strange = head.count { $0 < 32 && $0 != 9 && $0 != 10 && $0 != 13 || $0 == 127 }
            let isMagic = text.hasPrefix("pk\u{3}\u{4}") || text.hasPrefix("%pdf") || bytes.starts(with: [0x1F, 0x8B])
            self = isMagic || strange * 20 > head.count ? .binary : .text
        }
    }

    /// Whether the lines of its problems are those of the file, and not of what was made of it.
    public var isOwnText: Bool {
        switch self {
        case .jCal, .xml, .csv: false
        default: true
        }
    }

    /// One sentence for who sent the bytes, nil for a format that can be read.
    var refusal: String? {
        switch self {
        case .calendar, .calendars, .components, .vCalendar1, .csv: nil
        case .jCal: "This is a calendar as JSON (jCal) and not an .ics file."
        case .json: "This is JSON, not a calendar file: the link probably leads to a programming interface."
        case .html: "This is a web page, not a calendar: the link probably needs a sign-in."
        case .xml: "This is an XML file, not an .ics calendar: ask its source for the .ics format."
        case .contacts: "This is an address book (vCard), not a calendar."
        case .empty: "The file is empty."
        case .binary: "This is not a text file, so it is not a calendar: an archive has to be unpacked first."
        case .text: "This is a text without any calendar entry: no BEGIN:VCALENDAR was found."
        }
    }
}

extension [UInt8] {
    /// Whether `BEGIN:V` or `BEGIN:X-` appears anywhere, in upper or lower case.
    var containsComponent: Bool {
        var index = startIndex
        while let colon = ByteSearch.first(UInt8(ascii: ":"), in: self, from: index) {
            index = colon + 1
            guard colon >= 5, colon + 1 < count, self[colon + 1] | 0x20 == UInt8(ascii: "v") else { continue }
            if self[colon - 5..<colon].elementsEqual("begin".utf8, by: { $0 | 0x20 == $1 }) { return true }
        }
        return false
    }
}
