// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// The schema of a value in the document, as opposed to the database's schema, which has the same name in its module.
typealias Schema = JSONSchema

extension Schema {
    /// A value that fits exactly one of these; generators of clients make a union of it.
    static func oneOf(_ schemas: Schema...) -> Schema { Schema(["oneOf": .array(schemas.map(\.value))]) }

    /// Words of which a later version may have more: a client that was made from this document must not fail at a new
    /// one, as it would with `enum`.
    static func known(_ words: [String]) -> Schema {
        Schema(["type": "string", "x-extensible-enum": .array(words.map(JSONValue.string))])
    }
}
