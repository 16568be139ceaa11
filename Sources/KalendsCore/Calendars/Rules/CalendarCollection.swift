// SPDX-License-Identifier: Apache-2.0

package import Calendar
package import Storage

/// A collection of calendar object resources, as one person sees it (RFC 4791 section 4.2).
package struct CalendarCollection: Sendable {
    package enum Kind: Hashable, Sendable {
        /// The events of a circle, by its id.
        case events(circle: String)
        /// The tasks and follow-ups of a circle, by its id.
        case tasks(circle: String)
        /// A calendar of the person's own, by its id.
        case own(String)
        /// What a feed shows, by the feed's id; reached only by its secret address.
        case feed(String)
    }

    package var kind: Kind
    /// Whose collection it is: the user who signed in, or the feed's user.
    package var userID: String
    /// Its name in the home's address, not percent-encoded.
    package var segment: String
    /// The server's name for it; a displayname that the person set is among `properties`.
    package var displayName: String
    /// In the order in which they are listed.
    package var components: [CalendarComponent]
    /// Whether this caller may write at all: the right in the circle and the password's access.
    package var mayWrite: Bool
    /// The number of its latest change: from which a synchronization token and the ctag are made.
    package var number: Int
    /// The properties that the person set with PROPPATCH, MKCALENDAR or MKCOL.
    package var properties: [StoredProperty] = []

    /// The maximum size in bytes of a resource's text.
    package static let maxResourceSize = 1 << 20
    /// The maximum number of bytes of texts that are in memory at a time for one answer, unless a single text is longer.
    package static let pageBytes = 1 << 20
}

/// A property of a collection that a person set, kept as it came (RFC 4918 section 4).
package struct StoredProperty: Hashable, Sendable {
    /// The namespace and the local name.
    package var namespace: String
    package var name: String
    /// The property's whole element as XML, with the namespaces that it needs.
    package var xml: [UInt8]

    package init(namespace: String, name: String, xml: [UInt8]) {
        (self.namespace, self.name, self.xml) = (namespace, name, xml)
    }
}

/// A calendar object resource without its text (RFC 4791 section 4.1).
package struct CalendarMember: Hashable, Sendable {
    /// Its name in the collection's address, not percent-encoded.
    package var name: String
    /// Strong, without its quotation marks, over exactly the bytes of the text.
    package var etag: String
    /// The length of the text in bytes.
    package var size: Int
    package var component: CalendarComponent
    /// When it last changed, in seconds since 1970.
    package var modified: Int
}

/// A calendar object resource with its text, or why its text cannot be made: its neighbours are answered all the same.
package struct CalendarResource: Sendable {
    package var member: CalendarMember
    package var text: Result<[UInt8], Refusal>
}

/// What changed in a collection after a number (RFC 6578 section 3.5).
package struct CollectionChanges: Sendable {
    package var changed: [CalendarMember]
    /// The names of members that no longer exist.
    package var removed: [String]
    /// The number up to which these are all changes.
    package var number: Int
    /// Whether more follow after `number`.
    package var isTruncated: Bool
}

/// What a request says about the state that it expects (RFC 9110 section 13.1).
package struct WriteConditions: Sendable {
    /// The ETags of `If-Match`, without quotation marks; nil without the field.
    package var ifMatch: [String]?
    /// `If-Match: *`
    package var needsExisting = false
    /// `If-None-Match: *`
    package var needsAbsence = false
    /// The ETags of `If-None-Match`.
    package var ifNoneMatch: [String] = []

    package init() {}
}

/// The outcome of a PUT.
package struct PutOutcome: Sendable {
    package var isNew: Bool
    /// The ETag if the text is stored exactly as it came; nil otherwise, so that the client reads it again
    /// (RFC 4791 section 5.3.4).
    package var etag: String?
}

/// Why a request at a collection is refused, with the precondition that RFC 4791, 4918, 5689 or 6578 has for it.
package enum CollectionFault: Error, Sendable {
    /// 404
    case missing
    /// 412
    case preconditionFailed
    /// 403 with `DAV:need-privileges`
    case needsPrivileges
    /// 403 with `C:no-uid-conflict`: the segment of the collection and the name of the resource that has the UID.
    case uidConflict(segment: String, name: String)
    /// 403 with `C:valid-calendar-data` and a sentence for people.
    case invalidData(Sentence)
    /// 403 with `C:valid-calendar-object-resource` and a sentence for people.
    case invalidObject(Sentence)
    /// 403 with `C:supported-calendar-component`
    case unsupportedComponent
    /// 403 with `C:max-resource-size`: the bound in bytes.
    case tooLarge(Int)
    /// 403 with `DAV:valid-sync-token`
    case invalidSyncToken
    /// 507 with a sentence: a quota of the person is used up.
    case insufficientStorage(Sentence)
    /// `DAV:resource-must-be-null`, 405 on MKCOL and 409 on MKCALENDAR
    case exists
    /// 403 with a sentence, for what cannot be done there, such as MOVE from a circle.
    case forbidden(Sentence)
}

/// What calendar apps read and write: the collections of one person of one kind.
///
/// Each function opens its own transaction. Lists are read in pages, so that an answer of any length is written in flat
/// memory.
package protocol CollectionSource: Sendable {
    /// Returns the caller's collections that this source has, in a stable order.
    func collections(of caller: CalDAVCaller) async throws -> [CalendarCollection]

    /// Returns one of them by its segment; nil if this source has none there.
    func collection(_ segment: String, of caller: CalDAVCaller) async throws -> CalendarCollection?

    /// Returns members in the order of their names' bytes, after a name.
    func members(
        of collection: CalendarCollection, after name: String?, limit: Int
    ) async throws -> [CalendarMember]

    /// Returns members by their names, each in its place; nil for those that are not there.
    func members(of collection: CalendarCollection, named names: [String]) async throws -> [CalendarMember?]

    /// Returns the bytes of resources' texts by their names, each in its place, about as they are now; 0 for those that
    /// are not there.
    func sizes(of collection: CalendarCollection, named names: [String]) async throws -> [Int]

    /// Returns resources by their names, each in its place; nil for those that are not there.
    ///
    /// - Parameter room: grows to what is in memory while a large one is made; nil where the caller has looked at the sizes.
    func resources(
        of collection: CalendarCollection, named names: [String], room: MemoryShare?
    ) async throws -> [CalendarResource?]

    /// Returns resources, of a component if one is named, that may have something in a span, in the order of their
    /// names' bytes, after a name. It may return more than has something there, and large texts a few at a time: only
    /// an empty list is the end.
    ///
    /// - Parameter span: in seconds since 1970; nil for all times.
    func resources(
        of collection: CalendarCollection, component: CalendarComponent?, span: Range<Int>?,
        after name: String?, limit: Int
    ) async throws -> [CalendarResource]

    /// Returns what changed after a number.
    ///
    /// - Throws: `CollectionFault.invalidSyncToken` if the number is too old or of the future.
    func changes(
        of collection: CalendarCollection, after number: Int, limit: Int
    ) async throws -> CollectionChanges

    /// Stores a resource.
    ///
    /// - Parameter room: grows to the memory that a large existing resource takes.
    func put(
        _ text: [UInt8], as name: String, in collection: CalendarCollection, if conditions: WriteConditions,
        for caller: CalDAVCaller, room: MemoryShare?
    ) async throws -> PutOutcome

    /// Removes a resource.
    ///
    /// - Parameter room: as in `put`.
    func delete(
        _ name: String, from collection: CalendarCollection, if conditions: WriteConditions, for caller: CalDAVCaller,
        room: MemoryShare?
    ) async throws

    /// Sets and removes properties of a collection for its person, all of them or none.
    ///
    /// - Throws: `CollectionFault.insufficientStorage` beyond 64 kB of them.
    func set(
        _ set: [StoredProperty], removing: [(namespace: String, name: String)], of collection: CalendarCollection,
        for caller: CalDAVCaller
    ) async throws
}

extension CollectionSource {
    package func resources(
        of collection: CalendarCollection, named names: [String]
    ) async throws -> [CalendarResource?] {
        try await resources(of: collection, named: names, room: nil)
    }

    package func sizes(of collection: CalendarCollection, named names: [String]) async throws -> [Int] {
        try await members(of: collection, named: names).map { $0?.size ?? 0 }
    }
}

/// The person whom an app password lets in, and what it opens.
package struct CalDAVCaller: Sendable {
    package let passwordID: String
    /// The number under which its accesses are counted.
    package var number = 0
    package let userID: String
    /// Whether the password's access is `write`.
    package let mayWrite: Bool
    /// The circles that it reaches; nil for all of the person's.
    package let circleIDs: [String]?
    /// Whether the person's own calendars are reached.
    package let own: Bool
}
