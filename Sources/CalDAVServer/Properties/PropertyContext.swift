// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// What the values of properties depend on besides their resource.
struct PropertyContext: Sendable {
    let paths: DAVPaths
    /// The user who signed in; nil at a feed's address.
    let user: String?
    /// Whether the caller makes and removes collections.
    let mayMake: Bool
    let tokens: SyncTokens
    /// The public key of this server for push services; nil where no messages are sent.
    var pushKey: String?
    /// The properties that the caller set on the home, if a request asks for them.
    var homeProperties: [StoredProperty] = []

    /// The address of the caller's principal; nil at a feed's address.
    var principal: String? { user.map { paths.href(.principal(user: ByteString($0))) } }
    var home: String? { user.map { paths.href(.home(user: ByteString($0))) } }

    /// The properties that a person set on a resource.
    func stored(of subject: Subject) -> [StoredProperty] {
        switch subject {
        case .collection(let collection): collection.properties
        case .home: homeProperties
        case .root, .principals, .principal, .calendars, .member: []
        }
    }
}

extension CalendarCollection {
    /// The element of a property that its person set.
    func stored(_ name: PropertyName) -> [UInt8]? { properties[name] }
}

extension [StoredProperty] {
    /// The element of a property.
    subscript(_ name: PropertyName) -> [UInt8]? {
        first { name.name.string == $0.name && name.namespace.text == $0.namespace }?.xml
    }
}

extension [UInt8] {
    /// Writes a `DAV:href`.
    mutating func href(_ address: String) {
        self += "<D:href>".utf8
        XMLElement.write(address, to: &self)
        self += "</D:href>".utf8
    }

    mutating func text(_ text: String) { XMLElement.write(text, to: &self) }
}
