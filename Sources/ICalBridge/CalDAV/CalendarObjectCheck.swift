// SPDX-License-Identifier: Apache-2.0

/// What a calendar object resource is, once it is found to be one.
package struct CheckedObject: Hashable, Sendable {
    package var uid: String
    /// The kind of its components: `VEVENT`, `VTODO` or `VJOURNAL`.
    package var component: String
    /// When it may have something, with its occurrences and alarms, in seconds since 1970, wherever its dates and
    /// floating times are read; nil if that cannot be bounded.
    package var span: Range<Int>?
    /// The meanings of its components, in the order of the text.
    package var events: [Event]
}

/// Why a text is not a calendar object resource, by the precondition that it fails (RFC 4791 section 5.3.2.1).
package enum CalendarObjectFault: Error, Hashable {
    /// `C:valid-calendar-data`
    case invalidData(Sentence)
    /// `C:valid-calendar-object-resource`
    case invalidObject(Sentence)
    /// `C:supported-calendar-component`
    case unsupportedComponent
}

/// Checks what RFC 4791 section 4.1 requires of a calendar object resource.
package enum CalendarObjectCheck {
    /// Returns what the text of a resource is.
    ///
    /// One UID, one kind of component besides VTIMEZONE, one component for the whole, no METHOD, and a VTIMEZONE for
    /// each TZID that is not an IANA name; all of it can be read.
    package static func checked(_ text: [UInt8]) throws(CalendarObjectFault) -> CheckedObject {
        let contents = try contents(of: text)
        let tree = contents.tree
        if let version = tree.line("VERSION"), version.property?.trimmed != "2.0" {
            throw .invalidData(Sentence(.objectVersion, "The object is not iCalendar 2.0."))
        }
        let component = try component(of: tree)
        if tree.line("METHOD") != nil {
            throw .invalidObject(Sentence(.objectMethod, "The object has a METHOD, which is only for messages."))
        }
        let uid = try uid(of: contents)
        if let zone = missingZone(in: tree) {
            throw .invalidObject(
                Sentence(
                    .objectZone,
                    "The object has no VTIMEZONE for the zone \(zone, .zone), which is not an IANA time zone."))
        }
        // Contents beyond the limits of reading are kept, because the text is kept.
        let excess: [Problem.Code] = ["too-many-properties", "line-too-long"]
        if let problem = contents.problems.first(where: { $0.severity == .error && !excess.contains($0.code) }) {
            throw .invalidData(unreadable(problem.sentence))
        }
        return CheckedObject(uid: uid, component: component, span: contents.span, events: contents.events)
    }

    private static func contents(of text: [UInt8]) throws(CalendarObjectFault) -> ObjectContents {
        do throws(ObjectContents.Failure) {
            return try ObjectContents(text)
        } catch {
            switch error {
            case .text:
                throw .invalidData(
                    Sentence(.objectUnreadable, "This is not one iCalendar object in UTF-8 that begins and ends."))
            case .part(let sentence): throw .invalidData(unreadable(sentence))
            }
        }
    }

    private static func unreadable(_ sentence: Sentence) -> Sentence {
        Sentence(.objectPart, "A part of the object cannot be read. \(sentence, .sentence)")
    }

    private static func component(of tree: ObjectTree) throws(CalendarObjectFault) -> String {
        let names = tree.components.map(\.name).filter { $0 != "VTIMEZONE" }
        guard let name = names.first else {
            throw .invalidObject(Sentence(.objectEmpty, "The object holds no event, task or journal entry."))
        }
        guard names.allSatisfy({ $0 == name }) else {
            throw .invalidObject(Sentence(.objectKinds, "The object holds components of several kinds."))
        }
        guard ["VEVENT", "VTODO", "VJOURNAL"].contains(name) else { throw .unsupportedComponent }
        return name
    }

    private static func uid(of contents: ObjectContents) throws(CalendarObjectFault) -> String {
        let uids = contents.parts.map { $0.line("UID")?.property.map { TextValue.decoded($0.value.trimmingSpaces) } }
        guard let uid = uids.first ?? nil, !uid.isEmpty, uids.allSatisfy({ $0 != nil }) else {
            throw .invalidObject(Sentence(.objectWithoutUID, "A component of the object has no UID."))
        }
        guard uids.allSatisfy({ $0 == uid }) else {
            throw .invalidObject(Sentence(.objectUIDs, "The components of the object have different UIDs."))
        }
        guard contents.events.count(where: { $0.recurrenceID == nil }) <= 1 else {
            throw .invalidObject(
                Sentence(.objectTwice, "The object holds more than one component without a RECURRENCE-ID."))
        }
        return uid
    }

    /// Returns a zone that is named but is neither in the object nor an IANA name.
    private static func missingZone(in tree: ObjectTree) -> String? {
        let defined = Set(
            tree.components.filter { $0.name == "VTIMEZONE" }.compactMap { zone in
                zone.line("TZID")?.property.map { ByteString(TextValue.decoded($0.value.trimmingSpaces)) }
            })
        var known: Set<ByteString> = defined
        func missing(_ component: ObjectTree) -> String? {
            for line in component.lines {
                guard let zone = line.zoneName, !known.contains(ByteString(zone)) else { continue }
                guard SystemTimeZones.shared.canonicalSpelling(zone) != nil else { return zone }
                known.insert(ByteString(zone))
            }
            return component.components.lazy.compactMap(missing).first
        }
        return tree.components.lazy.filter { $0.name != "VTIMEZONE" }.compactMap(missing).first
    }
}
