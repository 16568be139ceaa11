// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Which properties a PROPFIND or a REPORT asks for (RFC 4918 section 9.1).
struct PropertyRequest: Sendable {
    enum Choice: Sendable {
        /// Those of RFC 4918 and those that a person set, with further ones.
        case all
        /// The names of all.
        case names
        case listed
    }

    struct Asked: Sendable {
        let name: PropertyName
        let live: LiveProperty?
        let tags: (start: [UInt8], end: [UInt8], empty: [UInt8])

        init(_ element: XMLElement) {
            name = PropertyName(element)
            (live, tags) = (LiveProperty.named[name], name.tags)
        }
    }

    let choice: Choice
    /// The properties that are listed, or that are requested in addition to all.
    let asked: [Asked]
    /// Whether what a resource does not have is left out (RFC 8144 section 2.1).
    var isMinimal: Bool

    /// The bytes of the requested properties' names, as they are written.
    private let length: Int

    /// The maximum number of properties, and the maximum size in bytes of their names: each resource's answer may
    /// repeat all of them.
    private static let most = 256
    private static let mostBytes = 16 << 10

    /// Reads `D:prop`, `D:allprop` with `D:include`, or `D:propname` within an element; all properties are asked for
    /// where it has none of them.
    ///
    /// - Parameter body: the root element of the request; nil for a request without a body.
    /// - Throws: 400 for more properties than anybody needs.
    init(_ body: XMLElement?, isMinimal: Bool) throws(DAVFault) {
        self.isMinimal = isMinimal
        let isListed = body?.child(.dav, "prop") != nil
        choice = isListed ? .listed : body?.child(.dav, "propname") != nil ? .names : .all
        let listed = body.map(Self.elements) ?? []
        guard listed.count <= Self.most else {
            throw .badRequest("The request asks for more properties than one answer may have.")
        }
        // Each is answered once: its value may be thousands of times as long as its name.
        var names: Set<PropertyName> = []
        asked = listed.map(Asked.init).filter { names.insert($0.name).inserted }
        length = asked.reduce(0) { $0 + $1.tags.empty.count }
        guard length <= Self.mostBytes else {
            throw .badRequest("The names of the properties that are asked for are too long.")
        }
    }

    /// Returns how many resources are answered at a time, where even names would make a long answer.
    ///
    /// - Parameter most: how many there are otherwise.
    func page(_ most: Int) -> Int { min(most, max(10, (1 << 20) / max(1, length))) }

    /// The requested elements: a few have content there, such as `C:calendar-data`.
    static func elements(_ body: XMLElement) -> [XMLElement] {
        (body.child(.dav, "prop") ?? body.child(.dav, "include"))?.children ?? []
    }
}
