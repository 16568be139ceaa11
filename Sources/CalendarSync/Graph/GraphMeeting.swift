// SPDX-License-Identifier: Apache-2.0

/// The part of a body that Exchange adds to an online meeting. It *is* the meeting: a body that is written without it
/// ends the meeting, so it is never read as notes and never left out.
///
/// It begins with a line of underscores, and contains the address at which the meeting is joined.
enum GraphMeeting {
    private static let addresses = ["/l/meetup-join/", "://teams.microsoft.com/meet/", "://teams.live.com/meet/"]
    private static let underscore = UInt8(ascii: "_")
    private static let line = [UInt8](repeating: underscore, count: 20)

    /// Returns what a person wrote in a body of plain text.
    static func notes(in text: String) -> String {
        let bytes = Array(text.utf8)
        guard let start = start(in: bytes) else { return text }
        return String(fromOutside: bytes[..<start])
    }

    /// The names that Exchange gives to the place of an online meeting, by the language of the person who creates it: as the
    /// only place, or after the one that was there.
    private static let places = [
        "Microsoft Teams Meeting", "Microsoft Teams-Besprechung", "Microsoft Teams-Meeting", "Réunion Microsoft Teams",
        "Reunión de Microsoft Teams", "Riunione di Microsoft Teams", "Microsoft Teams-vergadering",
        "Spotkanie w aplikacji Microsoft Teams", "Spotkanie usługi Microsoft Teams", "Reunião do Microsoft Teams",
        "Skype Meeting", "Skype-Besprechung",
    ]

    /// Returns the place that a person wrote.
    static func place(in text: String) -> String {
        for place in places {
            if text.isSameText(as: place) { return "" }
            if text.hasSuffix("; " + place) { return String(text.dropLast(place.count + 2)) }
        }
        return text
    }

    /// Returns another place with what Exchange named in addition to the present one.
    static func place(_ place: String, besideThatOf present: String) -> String {
        let kept = self.place(in: present)
        guard !present.isSameText(as: kept) else { return place }
        let added = kept.isEmpty ? present : String(present.dropFirst(kept.count + 2))
        return place.isEmpty ? added : "\(place); \(added)"
    }

    /// Returns HTML with other notes and the same meeting; nil when the present body has no meeting.
    static func body(_ notes: String, meetingOf html: String) -> String? {
        let bytes = Array(html.utf8)
        guard let line = start(in: bytes) else { return nil }
        // The line has an element of its own.
        let start = last("<div", in: bytes[..<line]) ?? line
        let end = last("</body>", in: bytes[line...]) ?? bytes.endIndex
        var text = notes.isEmpty ? "" : "<div>"
        for character in notes.unicodeScalars {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case "\n": text += "<br>"
            default: text.unicodeScalars.append(character)
            }
        }
        if !notes.isEmpty { text += "</div>" }
        return "<html><body>\(text)\(String(fromOutside: bytes[start..<end]))</body></html>"
    }

    /// Where the line before the last address begins.
    private static func start(in bytes: [UInt8]) -> Int? {
        guard let address = addresses.compactMap({ last($0, in: bytes[...]) }).max(),
            var start = last(line, in: bytes[..<address])
        else { return nil }
        while start > 0, bytes[start - 1] == underscore { start -= 1 }
        return start
    }

    private static func last(_ text: String, in bytes: ArraySlice<UInt8>) -> Int? { last(Array(text.utf8), in: bytes) }

    private static func last(_ pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (bytes.startIndex...bytes.endIndex - pattern.count).last { bytes[$0...].starts(with: pattern) }
    }
}
