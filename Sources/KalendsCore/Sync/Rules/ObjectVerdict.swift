// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What a text is that a calendar app stores, or why it is no calendar object resource.
struct ObjectVerdict: Sendable {
    /// The part of it that is passed on as JSON.
    struct Said: Sendable, Codable {
        enum Fault: String, Sendable, Codable { case data, object, component }

        var uid = ""
        /// The name of its components.
        var component = ""
        /// When it may have something, in seconds since 1970; both nil if that is not known.
        var from: Int?
        var to: Int?
        var fault: Fault?
        /// Why it is refused, for people.
        var sentence: Sentence?
    }

    var said: Said
    /// Its events as feeds show them, packed; empty when they show none.
    var shown: [UInt8]

    init(_ said: Said, shown: [UInt8]) { (self.said, self.shown) = (said, shown) }

    /// Reads a text in this process, which should have no rights.
    init(of text: [UInt8]) {
        self = Self.read(text, avoidsLibical: false) ?? ObjectVerdict(Said(fault: .data), shown: [])
    }

    /// Reads a text by Swift alone; nil if libical has to read a part of it.
    static func readBySwift(_ text: [UInt8]) -> ObjectVerdict? { read(text, avoidsLibical: true) }

    private static func read(_ text: [UInt8], avoidsLibical: Bool) -> ObjectVerdict? {
        do throws(CalendarObjectFault) {
            let found = try CalendarObjectCheck.checked(text, avoidsLibical: avoidsLibical)
            let said = Said(
                uid: found.uid, component: found.component, from: found.span?.lowerBound, to: found.span?.upperBound)
            return ObjectVerdict(said, shown: found.component == "VEVENT" ? OwnEvents.packed(found.events) : [])
        } catch {
            return switch error {
            case .invalidData(let sentence): ObjectVerdict(Said(fault: .data, sentence: sentence), shown: [])
            case .invalidObject(let sentence): ObjectVerdict(Said(fault: .object, sentence: sentence), shown: [])
            case .unsupportedComponent: ObjectVerdict(Said(fault: .component), shown: [])
            case .needsLibical: nil
            }
        }
    }
}
