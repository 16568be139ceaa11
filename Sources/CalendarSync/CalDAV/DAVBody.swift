// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The bodies of requests. Values are escaped; the names are ours.
enum DAVBody {
    private static let declaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    private static let namespaces =
        "xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\" xmlns:CS=\"http://calendarserver.org/ns/\" "
        + "xmlns:A=\"http://apple.com/ns/ical/\""

    private static func root(_ name: String, _ inner: String) -> [UInt8] {
        Array("\(declaration)<\(name) \(namespaces)>\(inner)</\(name)>".utf8)
    }

    static func propfind(_ properties: [String]) -> [UInt8] {
        root("D:propfind", "<D:prop>" + properties.map { "<\($0)/>" }.joined() + "</D:prop>")
    }

    /// Returns a sync-collection report (RFC 6578 section 3.2) without `DAV:limit`, at which some servers cut and lose
    /// the rest.
    static func syncCollection(token: String?) -> [UInt8] {
        root(
            "D:sync-collection",
            "<D:sync-token>\(escaped(token ?? ""))</D:sync-token><D:sync-level>1</D:sync-level>"
                + "<D:prop><D:getetag/></D:prop>")
    }

    /// Returns a multiget report (RFC 4791 section 7.9).
    static func multiget(_ hrefs: [String]) -> [UInt8] {
        root(
            "C:calendar-multiget",
            "<D:prop><D:getetag/><D:getlastmodified/><C:calendar-data/></D:prop>"
                + hrefs.map { "<D:href>\(escaped($0))</D:href>" }.joined())
    }

    /// Returns a query for the etags of all resources with an event (RFC 4791 section 7.8).
    static func queryOfEvents() -> [UInt8] { query("") }

    /// Returns a query for resources whose UID contains the text.
    static func query(uid: String) -> [UInt8] {
        query(
            "<C:prop-filter name=\"UID\"><C:text-match collation=\"i;octet\">\(escaped(uid))</C:text-match>"
                + "</C:prop-filter>")
    }

    private static func query(_ filter: String) -> [UInt8] {
        root(
            "C:calendar-query",
            "<D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name=\"VCALENDAR\"><C:comp-filter name=\"VEVENT\">"
                + filter + "</C:comp-filter></C:comp-filter></C:filter>")
    }

    /// Returns the body that creates a calendar (RFC 4791 section 5.3.1).
    ///
    /// - Parameter isShort: whether to send only what nearly every server accepts.
    static func mkcalendar(name: String, description: String, timeZone: String?, isShort: Bool) -> [UInt8] {
        var inner = "<D:displayname>\(escaped(name))</D:displayname>"
        if !isShort {
            inner += "<C:calendar-description>\(escaped(description))</C:calendar-description>"
            inner +=
                "<C:supported-calendar-component-set><C:comp name=\"VEVENT\"/></C:supported-calendar-component-set>"
            if let timeZone { inner += "<C:calendar-timezone>\(escaped(timeZone))</C:calendar-timezone>" }
        }
        return root("C:mkcalendar", "<D:set><D:prop>\(inner)</D:prop></D:set>")
    }

    /// Returns a text as character data, without what XML 1.0 cannot hold.
    static func escaped(_ text: String) -> String {
        var out: [UInt8] = []
        XMLElement.write(text, to: &out)
        return String(fromOutside: out)
    }
}
