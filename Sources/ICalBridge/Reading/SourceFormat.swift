// SPDX-License-Identifier: Apache-2.0

/// The format of some bytes, as far as a calendar reader distinguishes formats.
public enum SourceFormat: String, Hashable, Sendable, Codable, CaseIterable {
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
    /// Any XML, including a calendar as XML (RFC 6321).
    case xml
    /// A table with a column of starts (RFC 4180).
    case csv
    case contacts
    case empty
    case binary
    /// Text in none of these formats.
    case text

    /// The format of bytes that contain no component; nil when they may be a calendar.
    ///
    /// Reads the beginning, and scans all the bytes once for `BEGIN:`.
    init?(notACalendar bytes: [UInt8]) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let first = bytes[start...].firstIndex(where: { $0 > 32 }) else {
            self = .empty
            return
        }
        guard !bytes.containsComponent else { return nil }
        let head = bytes[first..<min(first + 512, bytes.count)]
        let text = String(fromOutside: head).lowercased()
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

    /// Whether line numbers in problems refer to the file itself, not to a text that was made from it.
    public var isOwnText: Bool {
        switch self {
        case .jCal, .xml, .csv: false
        default: true
        }
    }

    /// One sentence for the person who sent the bytes; nil for a format that can be read.
    var refusal: Sentence? {
        switch self {
        case .calendar, .calendars, .components, .vCalendar1, .csv: nil
        case .jCal: Sentence(.fileIsJCal, "This is a calendar as JSON (jCal) and not an .ics file.")
        case .json:
            Sentence(
                .fileIsJSON, "This is JSON, not a calendar file: the link probably leads to a programming interface.")
        case .html: Sentence(.fileIsWebPage, "This is a web page, not a calendar: the link probably needs a sign-in.")
        case .xml:
            Sentence(.fileIsXML, "This is an XML file, not an .ics calendar: ask its source for the .ics format.")
        case .contacts: Sentence(.fileIsAddressBook, "This is an address book (vCard), not a calendar.")
        case .empty: Sentence(.fileEmpty, "The file is empty.")
        case .binary:
            Sentence(
                .fileIsBinary, "This is not a text file, so it is not a calendar. If it is an archive, unpack it first."
            )
        case .text: Sentence(.fileIsText, "This is a text without any calendar entry: no BEGIN:VCALENDAR was found.")
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
