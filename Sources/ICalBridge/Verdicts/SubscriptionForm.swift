// SPDX-License-Identifier: Apache-2.0

/// The form in which a calendar app takes the address of a calendar to subscribe to.
///
/// The forms are those that public projects generate for the same apps, looked up on 2026-11-28.
public enum SubscriptionForm: String, Hashable, Sendable, CaseIterable {
    case apple, google, outlook, outlookWeb, outlookWork, thunderbird, android, other

    /// Whether the address is a link that opens the app; otherwise it is pasted into the app.
    public var isLink: Bool { self != .thunderbird && self != .other }

    /// Returns what the app takes.
    ///
    /// - Parameters:
    ///   - url: the calendar's address, with `https` or `http`.
    ///   - name: what the app may call the calendar.
    public func address(of url: String, name: String) -> String {
        let parts = url.parted(at: "://")
        let (scheme, rest) = (String(parts?.before ?? "https"), parts?.after ?? url[...])
        return switch self {
        // `webcals` is an invalid address on iPhones (nextcloud/calendar#2416).
        case .apple: "webcal://\(rest)"
        // The Google app shows an error for https (add2cal/add-to-calendar-button#252).
        case .google: "https://calendar.google.com/calendar/r?cid=\(PercentEncoding.encode("webcal://\(rest)"))"
        // The new Outlook removes `webcal:` and reads what follows (mjff-eng/asap-hub#4998).
        case .outlook: "webcal:\(url)"
        // Outlook.com shows an empty calendar for webcal (sportstimes/f1#449).
        case .outlookWeb: "https://outlook.live.com/calendar/0/addfromweb?\(Self.query(url, name))"
        case .outlookWork: "https://outlook.office.com/calendar/0/addfromweb?\(Self.query(url, name))"
        // ICSx5 reads `webcal` without encryption and `webcals` with it (bitfireAT/icsx5, AddSubscriptionModel).
        case .android: scheme == "https" ? "webcals://\(rest)" : "webcal://\(rest)"
        case .thunderbird, .other: url
        }
    }

    private static func query(_ url: String, _ name: String) -> String {
        "url=\(PercentEncoding.encode(url))&name=\(PercentEncoding.encode(name))"
    }
}
