// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import Pages

/// A configuration profile that sets up a CalDAV account on Apple's devices.
struct AppleProfile {
    static let type = "application/x-apple-aspen-config"

    /// The account's name on the device.
    let label: String
    /// The server's public address.
    let server: String
    let user: String
    let password: AppSecret
    /// An id that stays the same when a profile is made again.
    let id: String

    var bytes: [UInt8] {
        let (isSecure, host, port, base) = address
        var out = Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>PayloadContent</key><array><dict>
            """.utf8)
        func string(_ key: String, _ value: String) {
            out += "<key>\(key)</key><string>".utf8
            XMLElement.write(value, to: &out)
            out += "</string>\n".utf8
        }
        func integer(_ key: String, _ value: Int) { out += "<key>\(key)</key><integer>\(value)</integer>\n".utf8 }
        string("CalDAVAccountDescription", label)
        string("CalDAVHostName", host)
        integer("CalDAVPort", port)
        string("CalDAVPrincipalURL", "\(base)/dav/principals/\(user.pathSegment)/")
        out += "<key>CalDAVUseSSL</key>\(isSecure ? "<true/>" : "<false/>")\n".utf8
        string("CalDAVUsername", user)
        string("CalDAVPassword", password.reveal())
        string("PayloadType", "com.apple.caldav.account")
        string("PayloadDisplayName", label)
        string("PayloadIdentifier", "kalends.\(id).caldav")
        string("PayloadUUID", RandomUUID.text())
        integer("PayloadVersion", 1)
        out += "</dict></array>\n".utf8
        string("PayloadType", "Configuration")
        string("PayloadDisplayName", label)
        string("PayloadIdentifier", "kalends.\(id)")
        string("PayloadUUID", RandomUUID.text())
        integer("PayloadVersion", 1)
        out += "</dict></plist>\n".utf8
        return out
    }

    /// The parts of the server's address: whether it is https, the host, the port, and the path before all others.
    private var address: (isSecure: Bool, host: String, port: Int, base: String) {
        let isSecure = server.hasPrefix("https://")
        let rest = server.parted(at: "://")?.after ?? server[...]
        let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let (authority, base) = (rest[..<slash], String(rest[slash...]))
        let usual = isSecure ? 443 : 80
        // The last colon is part of the address where that is one in brackets.
        guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")), !authority.hasSuffix("]"),
            let port = Int(authority[authority.index(after: colon)...])
        else { return (isSecure, String(authority), usual, base) }
        return (isSecure, String(authority[..<colon]), port, base)
    }
}
