// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

extension Exchange {
    /// Returns what is at an address, as the caller sees it; nil if there is nothing.
    func found(at address: DAVAddress) async throws -> Subject? {
        func isOwn(_ user: ByteString) -> Bool { caller.map { $0.userID == user.string } ?? false }
        switch address {
        case .root: return .root
        case .principals: return .principals
        case .calendars: return .calendars
        case .principal(let user):
            guard let caller, isOwn(user) else { return nil }
            return .principal(try await collections.person(of: caller))
        case .home(let user): return isOwn(user) ? .home : nil
        case .collection(let user, let segment):
            guard let caller, isOwn(user) else { return nil }
            return try await collections.find(segment.string, of: caller).map { .collection($0.collection) }
        case .member(let user, let segment, let name):
            guard let caller, isOwn(user), let place = try await collections.find(segment.string, of: caller) else {
                return nil
            }
            return try await Self.member(name, in: place)
        case .feed: return place.map { .collection($0.collection) }
        case .feedMember(let name):
            guard let place else { return nil }
            return try await Self.member(name, in: place)
        }
    }

    private static func member(_ name: ByteString, in place: CollectionPlace) async throws -> Subject? {
        let found = try await place.source.members(of: place.collection, named: [name.string])
        return (found.first ?? nil).map { .member($0, of: place.collection) }
    }

    /// Returns the element of a property of a resource as it is answered; nil if the resource does not have it.
    func property(_ name: PropertyName, of subject: Subject) -> [UInt8]? {
        if let stored = subject.collection?.stored(name), LiveProperty.named[name]?.isProtected != true {
            return stored
        }
        guard let live = LiveProperty.named[name] else { return nil }
        let (start, end, _) = name.tags
        var out = start
        return live.write(subject, scene, &out) ? out + end : nil
    }
}

extension XMLElement {
    /// Reads the element of a property as it is answered.
    init?(property: [UInt8]) {
        let text = Array("<D:prop\(PropertyName.declarations)>".utf8) + property + Array("</D:prop>".utf8)
        guard let element = (try? XMLReader.read(text))?.children.first else { return nil }
        self = element
    }

    /// Its text with that of all elements in it.
    var allText: [String] { [trimmed].filter { !$0.isEmpty } + children.flatMap(\.allText) }
}
