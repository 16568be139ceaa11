// SPDX-License-Identifier: Apache-2.0

/// An absolute http or https address in a single spelling: the host in lower case, the path decoded and encoded again.
///
/// Servers answer with paths in another percent-encoding than they were asked with, so only this spelling is compared.
struct DAVAddress: Hashable, Sendable {
    let isSecure: Bool
    /// In lower case; an IPv6 address is in brackets.
    let host: String
    let port: Int
    /// From the first `/`; in each segment, everything but RFC 3986's unreserved characters is encoded.
    let path: String

    private init(isSecure: Bool, host: String, port: Int, path: String) {
        (self.isSecure, self.host, self.port, self.path) = (isSecure, host, port, path)
    }

    /// The maximum length of an address in its single spelling and with a collection's `/`, in bytes.
    private static let longest = 4096

    /// Reads an absolute address, or a reference relative to `base` (RFC 3986 section 5).
    ///
    /// Returns nil for another scheme, a user name, a query, a fragment, a `..`, a control character, a host that is not
    /// in ASCII, or an address that is longer than 4,095 bytes when it is encoded, since it could not be read back.
    init?(_ text: String, relativeTo base: DAVAddress? = nil) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longest, bytes.allSatisfy({ $0 > 32 && $0 != 127 && $0 != 92 }),
            !bytes.contains(UInt8(ascii: "?")), !bytes.contains(UInt8(ascii: "#"))
        else { return nil }
        let lower = text.lowercased()
        var rest = bytes[...]
        let isSecure: Bool
        if lower.hasPrefix("https://") {
            isSecure = true
            rest = bytes[8...]
        } else if lower.hasPrefix("http://") {
            isSecure = false
            rest = bytes[7...]
        } else if let base {
            if bytes.starts(with: "//".utf8) {
                isSecure = base.isSecure
                rest = bytes[2...]
            } else {
                // A colon in the first segment would be a scheme.
                let first = bytes.prefix { $0 != UInt8(ascii: "/") }
                guard !first.contains(UInt8(ascii: ":")) else { return nil }
                let folder = bytes[0] == UInt8(ascii: "/") ? [] : base.folder
                guard let path = Self.normal(folder + bytes) else { return nil }
                self.init(isSecure: base.isSecure, host: base.host, port: base.port, path: path)
                if self.text.utf8.count >= Self.longest { return nil }
                return
            }
        } else {
            return nil
        }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        guard let (host, port) = Self.authority(authority), let path = Self.normal(Array(rest[authority.endIndex...]))
        else { return nil }
        self.init(isSecure: isSecure, host: host, port: port ?? (isSecure ? 443 : 80), path: path)
        if self.text.utf8.count >= Self.longest { return nil }
    }

    /// The path up to its last `/`.
    private var folder: [UInt8] {
        let bytes = Array(path.utf8)
        let last = bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0
        return Array(bytes[...last])
    }

    private static func authority(_ bytes: ArraySlice<UInt8>) -> (host: String, port: Int?)? {
        let isIPv6 = bytes.first == UInt8(ascii: "[")
        let hostEnd = isIPv6 ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : bytes.firstIndex(of: 58)
        let host = bytes[..<(hostEnd ?? bytes.endIndex)]
        let rest = bytes[host.endIndex...]
        guard !host.isEmpty, host.count <= 255,
            host.allSatisfy({
                $0 | 0x20 >= 97 && $0 | 0x20 <= 122 || $0 >= 48 && $0 <= 57 || $0 == 45 || $0 == 46 || $0 == 95
                    || isIPv6 && ($0 == 58 || $0 == 91 || $0 == 93)
            }), !isIPv6 || hostEnd != nil
        else { return nil }
        let name = String(fromOutside: host).lowercased()
        if rest.isEmpty { return (name, nil) }
        guard rest.first == 58, rest.count <= 6, let port = Int(String(fromOutside: rest.dropFirst())),
            (1...65_535).contains(port)
        else { return nil }
        return (name, port)
    }

    /// Returns nil for a path with `.` or `..`, which no server needs to send.
    private static func normal(_ path: [UInt8]) -> String? {
        if path.isEmpty { return "/" }
        guard path[0] == UInt8(ascii: "/") else { return nil }
        var out: [UInt8] = []
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let decoded = decode(segment)
            guard !decoded.elementsEqual(".".utf8), !decoded.elementsEqual("..".utf8),
                decoded.allSatisfy({ $0 >= 32 && $0 != 127 })
            else { return nil }
            out.append(UInt8(ascii: "/"))
            for byte in decoded {
                if byte.isUnreserved {
                    out.append(byte)
                } else {
                    out.append(UInt8(ascii: "%"))
                    out += Hexadecimal.text([byte]).uppercased().utf8
                }
            }
        }
        return String(fromOutside: out)
    }

    /// Decodes a segment; a `%` that is not followed by two digits is kept.
    private static func decode(_ segment: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        var index = segment.startIndex
        while index < segment.endIndex {
            if segment[index] == UInt8(ascii: "%"), index + 2 < segment.endIndex,
                let high = Hexadecimal.value(of: segment[index + 1]),
                let low = Hexadecimal.value(of: segment[index + 2])
            {
                out.append(high << 4 | low)
                index += 3
            } else {
                out.append(segment[index])
                index += 1
            }
        }
        return out
    }

    static func == (left: Self, right: Self) -> Bool { left.text == right.text }

    func hash(into hasher: inout Hasher) { text.hashText(into: &hasher) }

    private var isUsualPort: Bool { port == (isSecure ? 443 : 80) }

    /// Scheme, host and port, without a path.
    var origin: String { "\(isSecure ? "https" : "http")://\(host)\(isUsualPort ? "" : ":\(port)")" }

    var text: String { origin + path }

    /// Whether it is this machine, so that a password does not cross a network.
    var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || IPAddress(host).map { $0.bytes.count == 4 && $0.bytes[0] == 127 } == true
    }

    /// Whether its host is a name within a domain, and not an IP address.
    var isName: Bool { host.utf8.contains(46) && !host.hasPrefix("[") && IPAddress(host) == nil && !isLoopback }

    /// The same address with a trailing `/`, as a collection's address needs.
    var collection: DAVAddress {
        path.hasSuffix("/") ? self : DAVAddress(isSecure: isSecure, host: host, port: port, path: path + "/")
    }

    func with(path: String) -> DAVAddress? { DAVAddress(path, relativeTo: self) }

    /// Reports whether it lies directly within a collection of the same origin, and is not itself a collection.
    func isMember(of collection: DAVAddress) -> Bool {
        guard origin == collection.origin, path.hasPrefix(collection.path) else { return false }
        let name = path.utf8.dropFirst(collection.path.utf8.count)
        return !name.isEmpty && !name.contains(UInt8(ascii: "/"))
    }

    /// The last segment of the path, encoded.
    var name: String {
        String(fromOutside: path.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? [])
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        self | 0x20 >= 97 && self | 0x20 <= 122 || self >= 48 && self <= 57 || self == 45 || self == 46 || self == 95
            || self == 126
    }
}
