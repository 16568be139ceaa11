// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// Outlook's calendars through Microsoft Graph 1.0.
///
/// It keeps no state except the mailbox's gate. A series is read as a whole, from its master with
/// `exceptionOccurrences` and `cancelledOccurrences`; a cancelled occurrence is an EXDATE of the entry.
public struct GraphCalendar: CalendarProvider {
    let wire: GraphWire
    /// The clock, which is used only for the end of a subscription.
    let now: @Sendable () -> Instant

    /// - Parameters:
    ///   - baseURL: the part of all addresses before `/me/…`.
    ///   - gate: the account's gate, which all users of the same mailbox share.
    ///   - pause: waits for some milliseconds before a refused request is sent again.
    public init(
        http: any ProviderHTTP, tokens: any AccessTokens, baseURL: String = "https://graph.microsoft.com/v1.0",
        gate: MailboxGate = MailboxGate(), now: @escaping @Sendable () -> Instant,
        pause: @escaping @Sendable (Int) async -> Void = { try? await Task.sleep(for: .milliseconds($0)) }
    ) {
        wire = GraphWire(
            base: OAuthApplication.withoutSlash(baseURL), http: http, tokens: tokens, gate: gate, pause: pause)
        self.now = now
    }

    public var http: (any ProviderHTTP)? { wire.http }

    public func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation]) {
        let expression = GraphExpression(entry)
        return (expression.entry, expression.limitations)
    }

    /// The maximum number of items in a listing.
    static let mostItems = 200_000
    /// The maximum number of pages in a listing.
    static let mostPages = 2000

    /// Returns all items of a listing, page by page.
    func pages(_ first: String, prefer: String? = GraphWire.preferences) async throws(ProviderFailure) -> [JSONValue] {
        var items: [JSONValue] = []
        var address = first
        var seen: Set<ByteString> = []
        while true {
            let answer = try await wire.send("GET", address, prefer: prefer)
            guard answer.isSuccess else { throw answer.failure }
            guard let value = answer.body["value"]?.array else {
                throw ProviderFailure(.malformed, "Microsoft's answer to a listing lacks `value`.")
            }
            try await wire.http.keep(2 * answer.length)
            items += value
            guard let next = answer.body["@odata.nextLink"]?.string else { return items }
            guard items.count <= Self.mostItems, seen.count < Self.mostPages, seen.insert(next).inserted else {
                throw ProviderFailure(.malformed, "Microsoft's listing does not end.")
            }
            try trust(next)
            address = next
        }
    }

    func trust(_ link: String) throws(ProviderFailure) {
        guard wire.trusts(link) else {
            throw ProviderFailure(.malformed, "Microsoft's answer leads to another server.")
        }
    }

    static func path(of calendar: String) -> String { "/me/calendars/\(PercentEncoding.encode(calendar))" }

    /// Returns the query option that includes an extended property in the answer.
    static func expansion(_ property: String) -> String {
        "singleValueExtendedProperties(\(PercentEncoding.encode("$filter=id eq '\(property)'")))"
    }

    /// Returns the path of one event, with everything that an entry is made from.
    static func path(of event: String, in calendar: String) -> String {
        "\(path(of: calendar))/events/\(PercentEncoding.encode(event))"
            + "?$select=\(GraphEvent.selection),cancelledOccurrences,exceptionOccurrences"
            + "&$expand=exceptionOccurrences,\(expansion(GraphMark.markProperty))"
    }

    public func calendars() async throws(ProviderFailure) -> [RemoteCalendar] {
        let items = try await pages("/me/calendars?$top=200&$expand=\(Self.expansion(GraphMark.signProperty))")
        guard items.count <= 5000 else { throw ProviderFailure(.malformed, "Microsoft lists too many calendars.") }
        return items.compactMap(Self.calendar)
    }

    public func createCalendar(
        named name: String, timeZone: String
    ) async throws(ProviderFailure) -> RemoteCalendar {
        let sign: JSONValue = ["id": .string(GraphMark.signProperty), "value": "1"]
        // Outlook does not allow two calendars with the same name, whoever created the other one.
        for number in 1...9 {
            let shown = number == 1 ? name : "\(name) (\(number))"
            let answer = try await wire.send(
                "POST", "/me/calendars",
                body: ["name": .string(GraphText.line(shown)), "singleValueExtendedProperties": [sign]])
            if answer.has("ErrorFolderExists"), !answer.isSuccess { continue }
            guard answer.isSuccess else { throw answer.failure }
            guard var calendar = Self.calendar(answer.body) else {
                throw ProviderFailure(.malformed, "Microsoft made a calendar but did not return its id.")
            }
            // The answer to a creation does not repeat the sign.
            calendar.isOurs = true
            return calendar
        }
        throw ProviderFailure(.refused, "Outlook has too many calendars with this name.")
    }

    private static func calendar(_ json: JSONValue) -> RemoteCalendar? {
        guard let id = json["id"]?.string, GraphEvent.isID(id) else { return nil }
        let name = GraphText.line(String((json["name"]?.string ?? "").unicodeScalars.prefix(256)))
        return RemoteCalendar(
            id: id, name: name, color: color(json), isPrimary: json["isDefaultCalendar"]?.bool ?? false,
            canWrite: json["canEdit"]?.bool ?? false,
            isOurs: GraphEvent.property(GraphMark.signProperty, in: json) != nil)
    }

    /// Returns the exact colour, or the one that Outlook shows for a named colour.
    private static func color(_ json: JSONValue) -> String? {
        if let hex = json["hexColor"]?.string, hex.utf8.count == 7, hex.utf8.first == UInt8(ascii: "#"),
            UInt32(hex.dropFirst(), radix: 16) != nil
        {
            return String(fromOutside: hex.utf8.map { $0 >= 97 ? $0 - 32 : $0 })
        }
        let shown: [ByteString: String] = [
            "lightBlue": "#A6D1F5", "lightGreen": "#87D28E", "lightOrange": "#FCAB73", "lightGray": "#C0C0C0",
            "lightYellow": "#F5EE7A", "lightTeal": "#60C4C4", "lightPink": "#F4A3C4", "lightBrown": "#C9A78F",
            "lightRed": "#F88C8C",
        ]
        return (json["color"]?.string).flatMap { shown[$0] }
    }
}
