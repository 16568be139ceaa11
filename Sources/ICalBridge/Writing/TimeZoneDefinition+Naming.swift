// SPDX-License-Identifier: Apache-2.0

extension TimeZoneReference {
    /// The TZID in what is written: the IANA id, or a name that belongs to the file's own rules only.
    var writtenIdentifier: String { writtenIdentifier { $0.writtenIdentifier } }
}

extension TimeZoneDefinition {
    /// The name of a definition whose own name means a known zone.
    private static let neutralName = "Kalends"
    /// How many hexadecimal digits of the hash follow the slash.
    private static let digits = 16

    /// The TZID under which the definition is written: always the same for the same rules, and another for others.
    ///
    /// Files that have nothing to do with each other come together in one feed, each with its own `Home`, but a
    /// calendar has one VTIMEZONE for each TZID (RFC 5545 section 3.6.5). What a piece of a feed says must not depend
    /// on the other pieces, so a hash of the rules follows every name. A name that means a known zone is replaced,
    /// because many readers would use that zone and not these rules; `[Event].inKnownZones` comes first.
    var writtenIdentifier: String {
        let name = identifier.withBoundedMarks.withoutHiddenCharacters.asTZID
        return (name.isEmpty || ZoneNames.named(name) != nil ? Self.neutralName : name) + ending
    }

    /// The definition with the name that it had before it was written; nil if its name is not a `writtenIdentifier`.
    var beforeWriting: TimeZoneDefinition? {
        let name = identifier.utf8.dropLast(1 + Self.digits)
        guard !name.isEmpty, identifier.utf8[name.endIndex] == UInt8(ascii: "/"),
            identifier.utf8[name.endIndex...].elementsEqual(ending.utf8)
        else { return nil }
        return TimeZoneDefinition(identifier: String(fromOutside: name), observances: observances)
    }

    /// A slash and a hash of the observances as they are written.
    private var ending: String {
        var writer = ContentLineWriter()
        writeObservances(to: &writer)
        var hash = StableHash()
        hash.combine(writer.bytes)
        return "/" + hash.hex.prefix(Self.digits)
    }
}
