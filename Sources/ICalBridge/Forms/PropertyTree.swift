// SPDX-License-Identifier: Apache-2.0

/// A component split into its properties: the form that iCalendar, jCal and xCal have in common.
///
/// Only the strict writer knows how an event becomes properties: the tree is made from its text.
struct PropertyTree: Hashable {
    /// The component's name in upper case.
    var name: String
    var properties: [TypedProperty] = []
    var components: [PropertyTree] = []

    /// The deepest nesting of components; the calendar itself is the first level.
    static let depthLimit = 8
}

/// A property with its type and its values (RFC 7265 section 3.4, RFC 6321 section 3.4).
struct TypedProperty: Hashable {
    /// The property's name in upper case.
    var name: String
    /// The parameters, with names in upper case, each once; VALUE is not included.
    var parameters: [ContentLine.Parameter] = []
    var type: ValueType
    var values: [TypedValue]
}

/// One value of a property in the notation that jCal and xCal share: `2026-01-21T09:00:00`, `-05:00`.
enum TypedValue: Hashable {
    case text(String)
    /// The digits as they were written, in JSON's grammar.
    case number(String)
    case boolean(Bool)
    /// The parts of a structured value (GEO, REQUEST-STATUS).
    case parts([TypedValue])
    /// A start and an end, or a start and a duration.
    case period(String, String)
    case recur([RecurPart])

    /// A part such as `BYDAY=MO,WE`: the name in lower case, each value a text or a number.
    struct RecurPart: Hashable {
        var name: String
        var values: [TypedValue]
    }
}

/// The rules for names, so that no value in another form can be mistaken for part of a line.
package enum FormName {
    /// Whether a property may have this name; BEGIN and END would change the structure.
    static func isProperty(_ name: String) -> Bool {
        isToken(name) && name != "BEGIN" && name != "END"
    }

    /// Whether this is an iana-token of RFC 5545 of at most 64 bytes; like the reader, it also accepts `_` and `.`.
    static func isToken(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy {
                $0 | 0x20 >= 97 && $0 | 0x20 <= 122 || $0 >= 48 && $0 <= 57 || $0 == 45 || $0 == 46 || $0 == 95
            }
    }

    /// Whether an XML element may have this name: it must begin with a letter or `_`.
    package static func isElement(_ name: String) -> Bool {
        guard isToken(name), let first = name.utf8.first else { return false }
        return first | 0x20 >= 97 && first | 0x20 <= 122 || first == 95
    }
}
