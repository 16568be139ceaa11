// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What a text is that a calendar app stores, or why it is not a calendar object resource.
struct ObjectVerdict: Sendable {
    /// The part of it that is passed on as JSON.
    struct EncodedVerdict: Sendable, Codable {
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

    var encoded: EncodedVerdict
    /// Its events as feeds show them, packed; empty when they show none.
    var shown: [UInt8]

    init(_ encoded: EncodedVerdict, shown: [UInt8]) { (self.encoded, self.shown) = (encoded, shown) }

    /// Reads a text in this process, which should have no rights.
    init(of text: [UInt8]) {
        do throws(CalendarObjectFault) {
            self.init(try CalendarObjectCheck.checked(text))
        } catch {
            self.init(error)
        }
    }

    /// Reads a text without libical; nil if libical has to read a part of it.
    static func readBySwift(_ text: [UInt8]) -> ObjectVerdict? {
        do throws(CalendarObjectFault) {
            return try CalendarObjectCheck.checkedBySwift(text).map { ObjectVerdict($0) }
        } catch {
            return ObjectVerdict(error)
        }
    }

    private init(_ found: CheckedObject) {
        encoded = EncodedVerdict(
            uid: found.uid, component: found.component, from: found.span?.lowerBound, to: found.span?.upperBound)
        shown = found.component == "VEVENT" ? OwnEvents.packed(found.events) : []
    }

    private init(_ fault: CalendarObjectFault) {
        shown = []
        encoded =
            switch fault {
            case .invalidData(let sentence): EncodedVerdict(fault: .data, sentence: sentence)
            case .invalidObject(let sentence): EncodedVerdict(fault: .object, sentence: sentence)
            case .unsupportedComponent: EncodedVerdict(fault: .component)
            }
    }
}
