// SPDX-License-Identifier: Apache-2.0

/// The resource that an address of the door names.
enum DAVAddress: Hashable, Sendable {
    case root, principals, calendars
    case principal(user: ByteString)
    case home(user: ByteString)
    case collection(user: ByteString, segment: ByteString)
    case member(user: ByteString, segment: ByteString, name: ByteString)
    /// Where an app has asked to hear of changes.
    case registration(id: ByteString)
    /// The collection at a feed's secret address.
    case feed
    case feedMember(name: ByteString)

    static func member(user: String, segment: String, name: String) -> DAVAddress {
        .member(user: ByteString(user), segment: ByteString(segment), name: ByteString(name))
    }

    static func collection(user: String, segment: String) -> DAVAddress {
        .collection(user: ByteString(user), segment: ByteString(segment))
    }

    /// Whether it names a collection in WebDAV's sense, whose address ends with a slash.
    var isCollection: Bool {
        switch self {
        case .member, .feedMember, .registration: false
        default: true
        }
    }
}

/// Reads and writes addresses: absolute paths below the path of the server's public address.
struct DAVPaths: Sendable {
    /// The path of the public address, without a slash at the end; a proxy takes it away from what it passes on.
    let base: String
    /// The scheme, the host and the port of the public address.
    var origin = ""
    /// The feed's own path, as the request has it, without a slash at the end; nil below `/dav/`.
    var feed: String?

    /// The longest segment, in bytes, before it is encoded.
    static let longest = 255

    // MARK: Writing

    func href(_ address: DAVAddress) -> String {
        switch address {
        case .root: base + "/dav/"
        case .principals: base + "/dav/principals/"
        case .calendars: base + "/dav/calendars/"
        case .principal(let user): base + "/dav/principals/\(Self.encoded(user.string))/"
        case .home(let user): base + "/dav/calendars/\(Self.encoded(user.string))/"
        case .collection(let user, let segment):
            href(.home(user: user)) + Self.encoded(segment.string) + "/"
        case .member(let user, let segment, let name):
            href(.collection(user: user, segment: segment)) + Self.encoded(name.string)
        case .registration(let id): base + "/dav/push/" + Self.encoded(id.string)
        case .feed: base + (feed ?? "") + "/"
        case .feedMember(let name): base + (feed ?? "") + "/" + Self.encoded(name.string)
        }
    }

    /// Encodes a segment; `@` may stay (RFC 3986 section 3.3), and clients compare it with what they sent.
    static func encoded(_ segment: String) -> String {
        guard segment.utf8.contains(UInt8(ascii: "@")) else { return PercentEncoding.encode(segment) }
        return segment.pieces(separatedBy: "@").map { PercentEncoding.encode(String($0)) }.joined(separator: "@")
    }

    // MARK: Reading

    /// Reads the path of a request; nil for a path that names nothing here.
    func address(path: String) -> DAVAddress? {
        if let feed {
            guard path.hasPrefix(feed) else { return nil }
            let rest = path.utf8.dropFirst(feed.utf8.count)
            if rest.isEmpty || rest.elementsEqual("/".utf8) { return .feed }
            guard rest.first == UInt8(ascii: "/"), let name = Self.decoded(rest.dropFirst()) else { return nil }
            return .feedMember(name: name)
        }
        var parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)[...]
        guard parts.popFirst()?.isEmpty == true else { return nil }
        let hasSlash = parts.last?.isEmpty == true
        if hasSlash { parts.removeLast() }
        var segments: [ByteString] = []
        for part in parts {
            guard let segment = Self.decoded(part) else { return nil }
            segments.append(segment)
        }
        switch (segments.count, segments.first) {
        case (2, ".well-known") where segments[1] == "caldav": return .root
        case (1, "dav"): return .root
        case (2, "dav") where segments[1] == "principals": return .principals
        case (2, "dav") where segments[1] == "calendars": return .calendars
        case (3, "dav") where segments[1] == "principals": return .principal(user: segments[2])
        case (3, "dav") where segments[1] == "calendars": return .home(user: segments[2])
        case (3, "dav") where segments[1] == "push" && !hasSlash: return .registration(id: segments[2])
        case (4, "dav") where segments[1] == "calendars":
            return .collection(user: segments[2], segment: segments[3])
        case (5, "dav") where segments[1] == "calendars" && !hasSlash:
            return .member(user: segments[2], segment: segments[3], name: segments[4])
        default: return nil
        }
    }

    /// Reads an address in a body or a header field: a path, or a whole URI; nil for one that names nothing here.
    ///
    /// - Parameter isOwn: whether a URI's authority is this server.
    func address(href: String, isOwn: (String) -> Bool = { _ in true }) -> DAVAddress? {
        guard var path = Self.path(of: href, isOwn: isOwn) else { return nil }
        if !base.isEmpty, path.hasPrefix(base + "/") { path = String(path.utf8.dropFirst(base.utf8.count)) ?? path }
        return address(path: path)
    }

    /// The path of a URI or a path; nil for a URI of another server, or one with a query or a fragment.
    static func path(of href: String, isOwn: (String) -> Bool) -> String? {
        guard !href.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return nil }
        if href.utf8.first == UInt8(ascii: "/") { return href }
        guard let rest = href.parted(at: "://")?.after else { return nil }
        let authority = rest.utf8.prefix { $0 != UInt8(ascii: "/") }
        guard isOwn(String(Substring(authority))) else { return nil }
        return String(rest.utf8.dropFirst(authority.count))
    }

    /// Decodes a segment; nil for one that is empty, too long, not UTF-8, or has a slash or a null.
    static func decoded(_ part: some Collection<UInt8>) -> ByteString? {
        var bytes: [UInt8] = []
        var rest = Array(part)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.value),
                let low = rest.popFirst().flatMap(Hexadecimal.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        guard !bytes.isEmpty, bytes.count <= longest, !bytes.contains(0), !bytes.contains(47),
            let text = String(validating: bytes, as: UTF8.self)?.fromOutside, text != ".", text != ".."
        else { return nil }
        return ByteString(text)
    }
}
