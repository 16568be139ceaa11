// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// An event as Graph returns it, with every member checked before it is used.
struct GraphEvent {
    enum Kind: String { case singleInstance, occurrence, exception, seriesMaster }

    /// The members that are requested of each event.
    static let selection =
        "id,type,seriesMasterId,subject,body,start,end,isAllDay,originalStartTimeZone,showAs,isReminderOn,"
        + "reminderMinutesBeforeStart,location,recurrence,originalStart,lastModifiedDateTime,createdDateTime,isCancelled,"
        + "changeKey,isOnlineMeeting,attendees"

    var id: String
    var etag: String?
    var kind: Kind
    var seriesID: String?
    var isCancelled: Bool
    var updatedAt: Instant?
    var createdAt: Instant?
    var mark: EventMark?
    var isUnfinished = false
    /// The instant at which an occurrence would have begun.
    var originalStart: Instant?
    /// The whole resource; times and texts are read from it on demand.
    let json: JSONValue

    /// Returns nil when it is not an event with an id.
    init?(_ json: JSONValue) {
        guard json.object != nil, let id = json["id"]?.string, Self.isID(id) else { return nil }
        self.json = json
        self.id = id
        let etag = json["@odata.etag"]?.string ?? (json["changeKey"]?.string).map { "W/\"\($0)\"" }
        self.etag = etag.flatMap { Self.isHeaderValue($0) ? $0 : nil }
        seriesID = (json["seriesMasterId"]?.string).flatMap { Self.isID($0) ? $0 : nil }
        let named = (json["type"]?.string).flatMap(Kind.init(rawValue:))
        kind =
            named
            ?? (seriesID != nil ? .occurrence : json["recurrence"]?.object != nil ? .seriesMaster : .singleInstance)
        isCancelled = json["isCancelled"]?.bool ?? false
        updatedAt = (json["lastModifiedDateTime"]?.string).flatMap { Instant(rfc3339: $0) }
        createdAt = (json["createdDateTime"]?.string).flatMap { Instant(rfc3339: $0) }
        originalStart = (json["originalStart"]?.string).flatMap { Instant(rfc3339: $0) }
        if let text = Self.property(GraphMark.markProperty, in: json) {
            mark = GraphMark.mark(text)
            isUnfinished = GraphMark.isUnfinished(text)
        }
    }

    /// Returns the value of an extended property; the case of its GUID and name does not matter.
    static func property(_ id: String, in json: JSONValue) -> String? {
        let wanted = id.asciiLowercased
        return json["singleValueExtendedProperties"]?.array?.first {
            $0["id"]?.string?.asciiLowercased == wanted
        }?["value"]?.string
    }

    /// Reports whether an id can be sent back in a path: it has no control characters, and its length is limited.
    static func isID(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 != 127 }
    }

    private static func isHeaderValue(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
    }

    /// The maximum size in bytes of a title or a place.
    private static let longestLine = 16_384
    /// The maximum size in bytes of a description.
    private static let longestBody = 1 << 20

    func title() throws(NotExpressible) -> String { try line("subject", json["subject"]) }
    func place() throws(NotExpressible) -> String {
        let place = try line("location", json["location"]?["displayName"])
        return json["isOnlineMeeting"]?.bool ?? false ? GraphMeeting.place(in: place) : place
    }

    private func line(_ name: String, _ value: JSONValue?) throws(NotExpressible) -> String {
        switch value {
        case nil, .null: return ""
        case .string(let text) where text.utf8.count <= Self.longestLine: return GraphText.line(text)
        default: throw NotExpressible("The event's \(name) cannot be read.")
        }
    }

    func notes() throws(NotExpressible) -> String {
        switch json["body"] {
        case nil, .null: return ""
        case .some(let body):
            let content = body["content"]?.string ?? ""
            guard content.utf8.count <= Self.longestBody else { throw NotExpressible("The event's body is too long.") }
            let isHTML = body["contentType"]?.string?.asciiLowercased == "html"
            let text = isHTML ? HTMLText.plain(content) ?? content : content
            return GraphText.body(json["isOnlineMeeting"]?.bool ?? false ? GraphMeeting.notes(in: text) : text)
        }
    }

    var isAllDay: Bool { json["isAllDay"]?.bool ?? false }

    /// The zone in whose local time the event was created.
    var zoneName: String? { json["originalStartTimeZone"]?.string }

    /// - Parameter zone: the IANA id of the series, for its occurrences.
    func span(zone: String?) throws(NotExpressible) -> TimeSpan {
        let start = try GraphTimes.instant(json["start"])
        let end = try GraphTimes.instant(json["end"])
        if isAllDay { return try GraphTimes.days(start: start, end: end, zone: zoneName) }
        guard start <= end else { throw NotExpressible("The event ends before it begins.") }
        return .timed(start: start, end: end, zone: zone ?? zoneName.flatMap(GraphZones.identifier(of:)) ?? "Etc/UTC")
    }

    /// Whole minutes before the start.
    var reminders: [Int] {
        guard json["isReminderOn"]?.bool ?? false, let minutes = json["reminderMinutesBeforeStart"]?.integer,
            (0...5_256_000).contains(minutes)
        else { return [] }
        return [minutes]
    }

    var status: Entry.Status { json["showAs"]?.string == "tentative" ? .tentative : .confirmed }

    /// Being away or working elsewhere counts as busy.
    var availability: Entry.Availability { json["showAs"]?.string == "free" ? .free : .busy }
}

/// Normalizes texts, as both sides compare them.
enum GraphText {
    /// Returns the text as one line: line breaks become blanks, and control characters are removed.
    static func line(_ text: String) -> String {
        let bounded = text.withBoundedMarks
        guard bounded.utf8.contains(where: { $0 < 32 || $0 == 127 }) else { return bounded }
        return String(
            fromOutside: bounded.utf8.compactMap { byte -> UInt8? in
                switch byte {
                case 9, 10, 13: 32
                case 0..<32, 127: nil
                default: byte
                }
            })
    }

    /// Returns lines that end with LF, without blanks at the end of a line and line ends at the end of the text: Exchange
    /// adds and removes them.
    static func body(_ text: String) -> String {
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for byte in text.withBoundedMarks.utf8 {
            switch byte {
            case 13: end(&bytes)
            case 10: if last != 13 { end(&bytes) }
            case 9: bytes.append(9)
            case 0..<32, 127: break
            default: bytes.append(byte)
            }
            last = byte
        }
        repeat {
            trim(&bytes)
        } while bytes.last == 10 && bytes.popLast() != nil
        return String(fromOutside: bytes)
    }

    private static func end(_ bytes: inout [UInt8]) {
        trim(&bytes)
        bytes.append(10)
    }

    private static func trim(_ bytes: inout [UInt8]) {
        while bytes.last == 32 || bytes.last == 9 { bytes.removeLast() }
    }
}
