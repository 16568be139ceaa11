// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// A text that a calendar app stores and that was found to be a calendar object resource.
struct OwnObject: Sendable {
    var uid: String
    var component: CalendarComponent
    /// When it may have something, in seconds since 1970; nil if that is not known.
    var span: Range<Int>?
    /// Its events as feeds show them.
    var shown: String

    /// The longest UID in bytes, which an index holds.
    private static let longestUID = 1024

    /// Reads a text in the user's turn; throws `CollectionFault` if it is not a calendar object resource.
    static func read(_ text: [UInt8], for user: String) async throws -> OwnObject {
        try await ForeignAnswers.inTurn(of: ByteString(user), bytes: text.count) { try OwnObject(text) }
    }

    private init(_ text: [UInt8]) throws(CollectionFault) {
        let found: CheckedObject
        do throws(CalendarObjectFault) {
            found = try CalendarObjectCheck.checked(text)
        } catch {
            switch error {
            case .invalidData(let sentence): throw .invalidData(sentence)
            case .invalidObject(let sentence): throw .invalidObject(sentence)
            case .unsupportedComponent: throw .unsupportedComponent
            }
        }
        guard let component = CalendarComponent(text: found.component) else { throw .unsupportedComponent }
        guard !found.uid.isEmpty, found.uid.utf8.count <= Self.longestUID, !found.uid.utf8.contains(0) else {
            throw .invalidObject(Sentence(.uidTooLong, "Its UID is longer than \(Self.longestUID, .count) bytes."))
        }
        (uid, self.component, span) = (found.uid, component, found.span)
        shown = component == .event ? String(decoding: OwnEvents.packed(found.events), as: UTF8.self) : ""
    }
}
