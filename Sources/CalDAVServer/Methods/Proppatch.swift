// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore

/// The properties of a resource that a client wants to set and to remove, in the order of the body.
struct PropertyUpdate: Sendable {
    private(set) var set: [StoredProperty] = []
    private(set) var removed: [PropertyName] = []
    /// All names, each once.
    private(set) var names: [PropertyName] = []
    /// The values of those that have children, by name.
    private(set) var elements: [PropertyName: XMLElement] = [:]

    /// The maximum number of properties in one request, and the maximum size in bytes of all of them together.
    private static let (most, mostBytes) = (256, 1 << 20)

    /// An empty update.
    init() {}

    /// Reads the `DAV:set` and `DAV:remove` of a `DAV:propertyupdate`, a `C:mkcalendar` or a `DAV:mkcol`.
    init(_ body: XMLElement) throws(DAVFault) {
        // Later instructions win, so only the last one for each name is written: a name may come thousands of times.
        var (isSet, last): ([PropertyName: Bool], [PropertyName: XMLElement]) = ([:], [:])
        for step in body.children where step.is(.dav, "set") || step.is(.dav, "remove") {
            let sets = step.is(.dav, "set")
            for element in step.child(.dav, "prop")?.children ?? [] {
                let name = PropertyName(element)
                if isSet.updateValue(sets, forKey: name) == nil { names.append(name) }
                guard names.count <= Self.most else {
                    throw .badRequest("There are too many properties in one request.")
                }
                last[name] = element
            }
        }
        var left = Self.mostBytes
        for name in names {
            guard isSet[name] == true, let element = last[name] else {
                removed.append(name)
                continue
            }
            elements[name] = element
            let property = StoredProperty(
                namespace: name.namespace.text, name: name.name.string, xml: element.source?.alone ?? name.tags.empty)
            // Each takes with it what the elements around it declare.
            left -= property.xml.count
            guard left >= 0 else { throw .badRequest("These properties are too long.") }
            set.append(property)
        }
    }

    /// The properties to remove, with the name of an earlier zone, so that the zone that was set last is the collection's.
    var replaced: [PropertyName] {
        let zones = [PropertyName.caldav("calendar-timezone"), .caldav("calendar-timezone-id")]
        let isSet = zones.map { zone in set.contains { PropertyName($0) == zone } }
        return removed + (isSet[0] && !isSet[1] ? [zones[1]] : isSet[1] && !isSet[0] ? [zones[0]] : [])
    }

    /// Those that only the server sets.
    var protected: [PropertyName] { names.filter { LiveProperty.named[$0]?.isProtected == true } }

    /// Leaves out properties that are not kept as such but become something else.
    mutating func drop(_ names: [PropertyName]) {
        set.removeAll { names.contains(PropertyName($0)) }
        self.names.removeAll { names.contains($0) }
    }
}

extension Exchange {
    /// RFC 4918 section 9.2: all of it or nothing.
    func proppatch(for caller: CalDAVCaller) async throws -> Response {
        guard let body = try await xml(), body.is(.dav, "propertyupdate") else {
            throw DAVFault.badRequest("The body is not a DAV:propertyupdate element.")
        }
        let update = try PropertyUpdate(body)
        switch try await subject() {
        case .collection, .home: break
        case .root, .principals, .principal, .calendars, .member:
            // No other resource has properties that its person sets.
            return try await failure(update, 403, update.names, .dav("cannot-modify-protected-property"))
        }
        let protected = update.protected
        guard protected.isEmpty else {
            return try await failure(update, 403, protected, .dav("cannot-modify-protected-property"))
        }
        do {
            let removed = update.replaced.map { (namespace: $0.namespace.text, name: $0.name.string) }
            if let place {
                try await place.source.set(update.set, removing: removed, of: place.collection, for: caller)
            } else {
                try await collections.setHome(update.set, removing: removed, for: caller)
            }
        } catch CollectionFault.insufficientStorage(let sentence) {
            // The properties that the server itself uses are small; what takes the room is unknown to it.
            let large = update.set.map { PropertyName($0) }.filter { LiveProperty.named[$0] == nil }
            return try await failure(
                update, 507, large.isEmpty ? update.names : large, .dav("quota-not-exceeded"), sentence.text)
        }
        if isMinimal {
            var headers = preferenceApplied
            headers[.cacheControl] = "no-store"
            return Response(status: .ok, headers: headers)
        }
        let href = href
        return try await multistatus(
            OnePage { $0.response(href, [PropertyStatus(status: 200, names: update.names)]) })
    }

    /// Answers that some properties cannot be set, and that therefore nothing was done.
    func failure(
        _ update: PropertyUpdate, _ status: Int, _ failed: [PropertyName], _ condition: PropertyName,
        _ sentence: String? = nil
    ) async throws -> Response {
        var groups = [PropertyStatus(status: status, names: failed, condition: condition, sentence: sentence)]
        let others = update.names.filter { !failed.contains($0) }
        if !others.isEmpty { groups.append(PropertyStatus(status: 424, names: others)) }
        let (href, all) = (href, groups)
        return try await multistatus(OnePage { $0.response(href, all) })
    }
}
