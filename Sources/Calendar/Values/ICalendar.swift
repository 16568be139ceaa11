// SPDX-License-Identifier: Apache-2.0

/// A whole calendar: its own properties and its components (RFC 5545 section 3.4).
public struct ICalendar: Hashable, Sendable, Codable {
    /// PRODID: the program that wrote the calendar.
    public var productID: String?
    /// METHOD in upper case.
    public var method: String?
    /// NAME (RFC 7986) or X-WR-CALNAME.
    public var name: String?
    /// DESCRIPTION (RFC 7986) or X-WR-CALDESC.
    public var description: String?
    /// How often a reader should fetch the calendar again: REFRESH-INTERVAL (RFC 7986) and X-PUBLISHED-TTL.
    public var refreshInterval: ICalDuration?
    /// COLOR (RFC 7986): a CSS3 colour name.
    public var color: String?
    public var events: [Event]
    /// Calendar properties that have no field here.
    public var otherProperties: [ContentLine]

    public init(productID: String? = nil, name: String? = nil, events: [Event] = []) {
        self.productID = productID
        self.name = name
        self.events = events
        self.otherProperties = []
    }
}
