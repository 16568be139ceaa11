// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// An account of Google Calendar (API v3).
public struct GoogleCalendar: CalendarProvider {
    let wire: GoogleWire
    let now: @Sendable () -> Instant

    /// - Parameters:
    ///   - baseURL: the part before `/calendar/v3/` and `/batch/calendar/v3`.
    ///   - pause: waits for some milliseconds before a call is sent again.
    ///   - random: returns a random number from 0 up to, but not including, its argument.
    public init(
        http: any ProviderHTTP, tokens: any AccessTokens, baseURL: String = "https://www.googleapis.com",
        now: @escaping @Sendable () -> Instant,
        pause: @escaping @Sendable (Int) async -> Void = { try? await Task.sleep(for: .milliseconds($0)) },
        random: @escaping @Sendable (Int) -> Int = { Int.random(in: 0..<$0) }
    ) {
        wire = GoogleWire(
            http: http, tokens: tokens, base: OAuthApplication.withoutSlash(baseURL), pause: pause, random: random)
        self.now = now
    }

    public var http: (any ProviderHTTP)? { wire.http }

    public func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation]) { entry.atGoogle() }

    /// Returns the path of a calendar's events, or of one of them.
    static func path(_ calendar: String, _ event: String? = nil) -> String {
        "calendars/" + PercentEncoding.encode(calendar) + "/events"
            + (event.map { "/" + PercentEncoding.encode($0) } ?? "")
    }
}

// MARK: Calendars

extension GoogleCalendar {
    /// The sign in the description of a calendar that a Kalends created; it stays there when a person renames the
    /// calendar.
    private static let sign = "kalends-calendar-1"
    private static let description = "Kept in step by Kalends (\(sign))."
    private static let mostCalendarPages = 40

    public func calendars() async throws(ProviderFailure) -> [RemoteCalendar] {
        var calendars: [RemoteCalendar] = []
        var pages = GooglePages(most: Self.mostCalendarPages)
        repeat {
            // Hidden calendars are listed too: one of ours that a person has hidden must not be created again.
            let query = [("maxResults", "250"), ("showHidden", "true")] + pages.query
            let call = GoogleCall(method: "GET", path: "users/me/calendarList", query: query)
            let list = try object(try await wire.send(call))
            for item in try items(list) {
                guard let calendar = try calendar(item) else { continue }
                calendars.append(calendar)
            }
            try pages.turn(list)
        } while pages.hasNext
        return calendars
    }

    private func calendar(_ json: JSONValue) throws(ProviderFailure) -> RemoteCalendar? {
        guard let id = json["id"]?.string, (1...1024).contains(id.utf8.count), let role = json["accessRole"]?.string
        else { throw Self.malformed }
        // No event can be read from a calendar that shows only when someone is busy.
        guard role != "freeBusyReader", json["deleted"]?.bool != true else { return nil }
        let name = json["summaryOverride"]?.string ?? json["summary"]?.string ?? ""
        return RemoteCalendar(
            id: id, name: GoogleText.line(String(name.unicodeScalars.prefix(1000))),
            color: json["backgroundColor"]?.string.flatMap(Self.color), isPrimary: json["primary"]?.bool ?? false,
            canWrite: role == "owner" || role == "writer",
            timeZone: json["timeZone"]?.string.flatMap { TimeZoneReference($0)?.identifier },
            isOurs: json["description"]?.string?.pieces(separatedBy: "(").contains { $0.hasPrefix(Self.sign + ")") }
                ?? false)
    }

    private static func color(_ text: String) -> String? {
        let digits = text.utf8.dropFirst()
        let isHex = digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0 | 0x20) }
        return text.hasPrefix("#") && digits.count == 6 && isHex ? text : nil
    }

    public func createCalendar(
        named name: String, timeZone: String
    ) async throws(ProviderFailure) -> RemoteCalendar {
        var body: [ByteString: JSONValue] = ["summary": .string(name), "description": .string(Self.description)]
        if TimeZoneReference(timeZone) != nil { body["timeZone"] = .string(timeZone) }
        let answer = try await wire.send(GoogleCall(method: "POST", path: "calendars", body: .object(body)))
        let calendar = try object(answer)
        guard let id = calendar["id"]?.string, (1...1024).contains(id.utf8.count) else { throw Self.malformed }
        return RemoteCalendar(
            id: id, name: GoogleText.line(calendar["summary"]?.string ?? name), canWrite: true,
            timeZone: calendar["timeZone"]?.string.flatMap { TimeZoneReference($0)?.identifier }, isOurs: true)
    }
}

// MARK: Reading answers

extension GoogleCalendar {
    static let malformed = ProviderFailure(.malformed, "Google's answer cannot be read.")

    /// Returns the object of a successful answer; throws the failure that any other answer means.
    func object(_ answer: GoogleAnswer) throws(ProviderFailure) -> JSONValue {
        guard answer.status == 200 else { throw answer.failure }
        guard let json = answer.json, json.object != nil else { throw Self.malformed }
        return json
    }

    func items(_ list: JSONValue) throws(ProviderFailure) -> [JSONValue] {
        switch list["items"] {
        case nil: return []
        case .array(let items)?: return items
        default: throw Self.malformed
        }
    }
}

/// The pages of one listing. An empty page need not be the last.
struct GooglePages {
    private let most: Int
    private var seen: Set<ByteString> = []
    private(set) var next: String?

    init(most: Int) { self.most = most }

    var hasNext: Bool { next != nil }
    var query: [(String, String)] { next.map { [("pageToken", $0)] } ?? [] }

    /// Goes to the page after `list`; throws when pages repeat or never end.
    mutating func turn(_ list: JSONValue) throws(ProviderFailure) {
        switch list["nextPageToken"] {
        case nil, .null?: next = nil
        case .string(let token)? where !token.isEmpty && token.utf8.count <= 8192:
            guard seen.insert(token).inserted, seen.count < most else { throw GoogleCalendar.malformed }
            next = token
        default: throw GoogleCalendar.malformed
        }
    }
}
