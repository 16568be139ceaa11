// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import KalendsFront

/// One request, with its address and its caller.
struct Exchange: Sendable {
    let request: Request
    let context: KalendsContext
    let services: Services
    let collections: Collections
    /// The resource that the address names.
    let address: DAVAddress
    /// The person whom the app password lets in; nil at a feed's address, where nobody can write.
    let caller: CalDAVCaller?
    let propertyContext: PropertyContext
    /// The collection that the address is, or is in; nil for any other address.
    var place: CollectionPlace?
    /// Nil where the answer is short.
    var work: ReportWork?

    /// The room for a large resource that is read, until the answer is written.
    var room: MemoryShare { context.memory.answer }
    /// The room for a large resource that is changed.
    var roomOfChange: MemoryShare { context.memory.edit }
    var paths: DAVPaths { propertyContext.paths }
    /// The address of the request as answers show it.
    var href: String { paths.href(address) }

    /// The address of a member of the request's collection.
    func href(ofMember name: String) -> String {
        guard let place, place.collection.isFeed == false else {
            return paths.href(.feedMember(name: ByteString(name)))
        }
        let (user, segment) = (place.collection.userID, place.collection.segment)
        return paths.href(.member(user: user, segment: segment, name: name))
    }

    func href(of collection: CalendarCollection) -> String {
        collection.isFeed
            ? paths.href(.feed) : paths.href(.collection(user: collection.userID, segment: collection.segment))
    }

    /// The name of the member of the request's collection at an address in a body; nil for anything else.
    func memberName(at href: String) -> String? {
        switch (paths.address(href: href), address) {
        case (.member(let user, let segment, let name), .collection(let ownUser, let ownSegment)),
            (.member(let user, let segment, let name), .member(let ownUser, let ownSegment, _)):
            user == ownUser && segment == ownSegment ? name.string : nil
        case (.feedMember(let name), .feed), (.feedMember(let name), .feedMember): name.string
        default: nil
        }
    }

    // MARK: Header fields

    enum Depth: Sendable { case zero, one, infinity }

    /// The value of `Depth`; nil for a request without it. Throws 400 for any other text.
    func depth() throws(DAVFault) -> Depth? {
        guard let text = request.headers[.depth] else { return nil }
        switch text.withoutOuterBlanks.asciiLowercased {
        case "0": return .zero
        case "1", "1,noroot": return .one
        case "infinity": return .infinity
        default: throw .badRequest("Depth must be 0, 1 or infinity.")
        }
    }

    /// Whether what a resource does not have is left out (RFC 8144 section 2.1, and appendix B for the older field).
    var isMinimal: Bool {
        request.headers[.brief].map { $0.withoutOuterBlanks.asciiLowercased == "t" } ?? false
            || prefers("return=minimal")
    }

    /// Whether a preference is stated (RFC 7240).
    func prefers(_ preference: String) -> Bool {
        request.headers[values: .prefer].contains { field in
            field.pieces(separatedBy: ",").contains { part in
                (part.pieces(separatedBy: ";").first ?? "").withoutBlanks.asciiLowercased == preference
            }
        }
    }

    /// The field that says that the preference was heeded, where it was stated.
    var preferenceApplied: HTTPFields {
        prefers("return=minimal") ? [.preferenceApplied: "return=minimal"] : HTTPFields()
    }

    var acceptsGzip: Bool { ContentCoding.takesGzip(request.headers[values: .acceptEncoding]) }
}

extension CalendarCollection {
    var isFeed: Bool { if case .feed = kind { true } else { false } }
}

extension HTTPField.Name {
    static let depth = HTTPField.Name("Depth") ?? .from
    static let brief = HTTPField.Name("Brief") ?? .from
    static let dav = HTTPField.Name("DAV") ?? .from
    static let destination = HTTPField.Name("Destination") ?? .from
    static let overwrite = HTTPField.Name("Overwrite") ?? .from
}
