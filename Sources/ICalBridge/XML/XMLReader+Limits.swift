// SPDX-License-Identifier: Apache-2.0

extension XMLReader {
    package struct Limits: Sendable {
        package var depth = 32
        package var elements = 500_000
        /// The maximum number of elements in one child of the root.
        package var elementsOfChild = 20_000
        /// The maximum number of attributes of one element, including namespace declarations.
        package var attributes = 32
        /// The maximum number of namespace declarations in scope: every name searches them.
        package var declarations = 64
        /// The maximum size in bytes of a name.
        package var name = 128
        /// Whether to accept what is understood although it is not well-formed: prefixes that are not declared, control
        /// characters, and a declaration with any content at any place.
        package var isLenient = false
        /// Whether to return the names of elements in lower case.
        package var lowersNames = false
        /// The level of the elements that keep how they were written, the root's being 1; nil for none.
        package var sourceLevel: Int?

        package init() {}

        /// For calendars that people import, which are limited in bytes: a calendar needs two levels of elements for
        /// each component and four for a property.
        static var xCal: Limits {
            var limits = Limits()
            (limits.elements, limits.attributes, limits.name) = (.max, 64, 1 << 16)
            (limits.isLenient, limits.lowersNames) = (true, true)
            return limits
        }

        /// For the bodies of requests to a CalDAV server, where properties that are set are on the fourth level.
        package static var request: Limits {
            var limits = Limits()
            (limits.depth, limits.elements, limits.name, limits.sourceLevel) = (64, 50_000, 256, 4)
            return limits
        }
    }
}
