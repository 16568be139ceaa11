// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Which addresses of imported events feeds show. A reader's program may do as an address says, and the
/// reader may not trust the author of the file.
enum URIScheme {
    /// Schemes that calendar apps open: pages, mail, calls, messages, places and the meetings of well-known services.
    private static let ofFeeds: Set<ByteString> = [
        "callto", "facetime", "facetime-audio", "ftp", "ftps", "geo", "gtalk", "h323", "http", "https", "im", "irc",
        "ircs", "mailto", "maps", "matrix", "message", "mid", "msteams", "news", "pres", "rtsp", "rtsps", "sip",
        "sips", "skype", "sms", "tel", "urn", "wbx", "webcal", "webcals", "webex", "whatsapp", "xmpp", "zoommtg",
        "zoomus",
    ]

    /// Schemes that programs run, or that refer to the program itself or to the reader's machine.
    private static let risky: Set<ByteString> = ["data", "file", "javascript", "vbscript"]

    static func isForFeeds(_ address: String) -> Bool { scheme(of: address).map(ofFeeds.contains) ?? true }

    static func isRisky(_ address: String) -> Bool { scheme(of: address).map(risky.contains) ?? false }

    /// The scheme in lower case, without the blanks and control characters that browsers ignore in one; nil for an
    /// address without a scheme.
    private static func scheme(of address: String) -> ByteString? {
        let bytes = address.utf8.lazy.filter { $0 > 32 && $0 != 127 }
        let begin = bytes.prefix(64).prefix { !Self.ends.contains($0) }
        guard !begin.isEmpty, bytes.dropFirst(begin.count).first == UInt8(ascii: ":") else { return nil }
        return ByteString(String(decoding: begin, as: UTF8.self).lowercased())
    }

    private static let ends = Array(":/?#".utf8)
}

extension ContentLine {
    /// Properties whose value is an address, or may be one (RFC 5545 section 3.8.4.6, RFC 7986 sections 5.8 and 5.11, RFC
    /// 9253 section 8.2).
    private static let addresses: Set<ByteString> = ["CONFERENCE", "LINK", "SOURCE", "URL"]

    /// Whether a feed shows the property, as far as addresses in it are concerned.
    var isForFeeds: Bool {
        let isAddress = self[parameter: "VALUE"]?.uppercased() == "URI"
        switch name {
        case "ATTACH", "IMAGE": return isFileForFeeds
        case _ where isAddress || Self.addresses.contains(ByteString(name)): return URIScheme.isForFeeds(value)
        case _ where name.hasPrefix("X-"): return !URIScheme.isRisky(value)
        default: return true
        }
    }

    /// Whether a feed shows a file: at an address of the web, or within the calendar. `cid:` names a part of a mail
    /// message, which a feed does not have (RFC 5545 section 3.8.1.1).
    private var isFileForFeeds: Bool {
        let isWithin =
            self[parameter: "VALUE"]?.uppercased() == "BINARY" || self[parameter: "ENCODING"]?.uppercased() == "BASE64"
        // Base64 has no colon.
        if isWithin { return !value.utf8.contains(UInt8(ascii: ":")) }
        let start = value.prefix(8).lowercased()
        return start.hasPrefix("https://") || start.hasPrefix("http://")
    }
}

extension ContentLine.Parameter {
    /// Whether it names a text's other form at an address that programs run (RFC 5545 section 3.2.1).
    var isRisky: Bool { name == "ALTREP" && values.contains(where: URIScheme.isRisky) }
}
