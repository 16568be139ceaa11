// SPDX-License-Identifier: Apache-2.0

import Calendar
import KalendsCore

/// The announcement that an operation, or a part of its requests, will be removed (docs/versions.md).
///
/// The document marks the part as deprecated; the answers to requests that use it have `Deprecation` (RFC 9745),
/// `Sunset` (RFC 8594) and a link to the operation in the document.
struct Deprecation: Sendable {
    enum Part: Hashable, Sendable {
        case operation
        /// A parameter of the query.
        case parameter(String)
        /// A field at the top of the JSON body.
        case field(String)
    }

    let part: Part
    /// The day of the announcement, in UTC.
    let since: CivilDate
    /// The day before which no version without the part comes out, in UTC.
    let sunset: CivilDate
    /// Its replacement, in one sentence.
    let instead: String

    /// The least days between the two: six months.
    static let leastDays = 184

    /// - Parameters:
    ///   - since: the day of the announcement, as `2027-01-31`.
    ///   - sunset: the earliest day of the end; the program ends at its start when it comes too early.
    init(_ part: Part, since: String, sunset: String, instead: String) {
        guard let (since, sunset) = Self.days(since, sunset) else {
            preconditionFailure("\(part) goes less than \(Self.leastDays) days after its announcement, or on no day.")
        }
        (self.part, self.since, self.sunset, self.instead) = (part, since, sunset, instead)
    }

    /// The two days; nil when one does not exist, or when they are too close to each other.
    static func days(_ since: String, _ sunset: String) -> (since: CivilDate, sunset: CivilDate)? {
        guard let since = CivilDate(iso: since), let sunset = CivilDate(iso: sunset),
            since.distance(to: sunset) >= leastDays
        else { return nil }
        return (since, sunset)
    }

    /// What the document says about the part.
    var sentence: String { "Deprecated since \(since): it goes on \(sunset) or later. \(instead)" }

    /// The names of the answers' fields.
    static let fieldNames = ["Deprecation", "Link", "Sunset"]
}

extension Operation {
    /// The notice for the operation itself, if it is deprecated.
    var deprecation: Deprecation? { deprecations.first { $0.part == .operation } }

    /// The notice for a query parameter, if it is deprecated.
    func deprecation(of parameter: Parameter) -> Deprecation? {
        guard parameter.location == .query else { return nil }
        return deprecations.first { $0.part == .parameter(parameter.name) }
    }

    /// The schema of a body, with its deprecated fields marked; a named schema is marked where it is described.
    func marked(_ schema: Schema) -> Schema {
        guard schema.json["$ref"] == nil else { return schema }
        return deprecations.reduce(schema) { schema, notice in
            guard case .field(let name) = notice.part else { return schema }
            return schema.deprecating(name, notice.sentence)
        }
    }

    /// The name of the body's JSON schema in the document, if it has one.
    var bodySchemaName: ByteString? {
        let json = body?.contents.first { $0.type == "application/json" }
        return json?.schema.json["$ref"]?.string.flatMap { $0.split(separator: "/").last }.map {
            ByteString(String($0))
        }
    }
}

extension Schema {
    /// The same schema, with a note that its subject is deprecated.
    func deprecated(_ sentence: String) -> Schema {
        let about = json["description"]?.string
        var copy = described([about, sentence].compactMap { $0 }.joined(separator: " "))
        copy.json["deprecated"] = true
        return copy
    }

    /// The same schema of an object, with a note at one of its members.
    func deprecating(_ name: String, _ sentence: String) -> Schema {
        guard let index = fields.firstIndex(where: { $0.name.isSameText(as: name) }),
            var members = json["properties"]?.object
        else { preconditionFailure("A body has no field \(name), which is declared deprecated.") }
        var copy = self
        let field = fields[index].schema.deprecated(sentence)
        copy.fields[index].schema = field
        members[ByteString(name)] = field.value
        copy.json["properties"] = .object(members)
        return copy
    }
}
