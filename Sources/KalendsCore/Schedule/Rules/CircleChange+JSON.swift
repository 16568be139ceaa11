// SPDX-License-Identifier: Apache-2.0

package import Storage

extension CircleChange {
    package var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "number": .integer(number), "at": JSONValue(milliseconds: at), "type": .string(subject.rawValue),
            "change": .string(kind.rawValue),
        ]
        if let collection { members["collection"] = .string(collection) }
        if let id { members["id"] = .string(id) }
        if let part { members["occurrence"] = .string(part) }
        return .object(members)
    }

    /// The change among those of all circles: with its circle, and its number among all.
    package var jsonAmongAll: JSONValue {
        var members = json.object ?? [:]
        (members["circleId"], members["sequence"]) = (.string(circleID), .integer(sequence))
        return .object(members)
    }
}
