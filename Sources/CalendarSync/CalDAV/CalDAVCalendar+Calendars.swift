// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension CalDAVCalendar {
    private static let properties = [
        "D:resourcetype", "D:displayname", "D:current-user-privilege-set", "C:supported-calendar-component-set",
        "C:calendar-description", "C:calendar-timezone", "A:calendar-color",
    ]
    /// The maximum number of calendars in a listing.
    private static let limit = 1000

    public func calendars() async throws(ProviderFailure) -> [RemoteCalendar] {
        var calendars: [RemoteCalendar] = []
        var known: Set<ByteString> = []
        for home in homes {
            let found = try await session.multistatus(.propfind("1", Self.properties), at: home) {
                found, address throws(ProviderFailure) in
                var (calendars, named): ([RemoteCalendar], Set<ByteString>) = ([], [])
                for response in found.responses where calendars.count < Self.limit {
                    guard let calendar = calendar(response, at: address), named.insert(ByteString(calendar.id)).inserted
                    else { continue }
                    calendars.append(calendar)
                }
                return calendars
            }
            calendars += found.filter { known.insert(ByteString($0.id)).inserted }
            if calendars.count >= Self.limit { break }
        }
        return Array(calendars.prefix(Self.limit))
    }

    /// Returns nil for anything but a calendar of this account that can hold events.
    private func calendar(_ response: Multistatus.Response, at address: DAVAddress) -> RemoteCalendar? {
        guard let type = response.property(.dav, "resourcetype"), type.child(.caldav, "calendar") != nil,
            !["schedule-inbox", "schedule-outbox"].contains(where: { type.child(.caldav, $0) != nil }),
            type.child(.calendarServer, "subscribed") == nil, type.child(.calendarServer, "notification") == nil,
            let calendarAddress = DAVAddress(response.href, relativeTo: address)?.collection,
            session.realm.allows(calendarAddress)
        else { return nil }
        let components = response.property(.caldav, "supported-calendar-component-set")?.children(.caldav, "comp")
        let names = components?.compactMap { $0.attribute("name")?.uppercased() } ?? []
        guard names.isEmpty || names.contains(where: { $0 == "VEVENT" }) else { return nil }
        let text = response.property(.caldav, "calendar-timezone")?.bytes ?? []
        return RemoteCalendar(
            id: calendarAddress.text, name: Self.short(response.text(.dav, "displayname")) ?? calendarAddress.name,
            color: response.text(.apple, "calendar-color").flatMap(Self.color), canWrite: Self.canWrite(response),
            timeZone: Self.zone(text),
            isOurs: CalDAVIdentity.isOurs(
                name: calendarAddress.name, description: response.text(.caldav, "calendar-description")))
    }

    /// Reports whether the account may write; a server that does not say is assumed to allow it.
    private static func canWrite(_ response: Multistatus.Response) -> Bool {
        guard let set = response.property(.dav, "current-user-privilege-set") else { return true }
        let names = set.children(.dav, "privilege").flatMap(\.children).filter { $0.namespace == .dav }.map(\.name)
        return names.contains { $0 == "all" || $0 == "write" || $0 == "write-content" || $0 == "bind" }
    }

    /// Returns the `#RRGGBB` part of `#RRGGBBAA`.
    private static func color(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count == 7 || bytes.count == 9, bytes[0] == UInt8(ascii: "#"),
            bytes.dropFirst().allSatisfy({ $0 >= 48 && $0 <= 57 || $0 | 0x20 >= 97 && $0 | 0x20 <= 102 })
        else { return nil }
        return String(fromOutside: bytes.prefix(7)).uppercased()
    }

    /// Returns the first 200 characters of a name.
    private static func short(_ name: String?) -> String? {
        guard let name else { return nil }
        return name.utf8.count <= 200 ? name : String(name.unicodeScalars.prefix(200).map(Character.init))
    }

    /// Returns the IANA name of a calendar's VTIMEZONE; nil where it has none that tzdata knows.
    private static func zone(_ text: [UInt8]) -> String? {
        guard !text.isEmpty, text.count <= 1 << 18, let tree = ObjectTree(text),
            let name = tree.components.first(where: { $0.name == "VTIMEZONE" })?.line("TZID")?.value,
            TimeZoneReference(name) != nil
        else { return nil }
        return name
    }
}

// MARK: - Creating a calendar

extension CalDAVCalendar {
    /// The number of names to try, because some servers keep those of deleted calendars.
    private static let attempts = 4

    /// Creates the calendar of this provider's key, or finds the one that was created for the key before.
    public func createCalendar(
        named name: String, timeZone: String
    ) async throws(ProviderFailure) -> RemoteCalendar {
        var last = ProviderFailure(.forbidden, "The account may not make a calendar.")
        for home in homes {
            for attempt in 0..<Self.attempts {
                guard
                    let calendarAddress = home.with(
                        path: home.path + CalDAVIdentity.calendar(calendarKey, attempt: attempt))
                else { continue }
                // Our sign is in the address, not in the name, which the person may change.
                if let refusal = try await make(calendarAddress.collection, name: name, timeZone: timeZone) {
                    last = refusal
                }
                if let calendar = try await look(atCalendar: calendarAddress.collection) { return calendar }
            }
        }
        throw last
    }

    /// Returns nil when the calendar was created; otherwise a failure, which may mean that it exists or cannot be
    /// created.
    private func make(
        _ calendarAddress: DAVAddress, name: String, timeZone: String
    ) async throws(ProviderFailure) -> ProviderFailure? {
        let description = "Kept in step by Kalends (\(calendarAddress.name))"
        var refusal: ProviderFailure?
        for isShort in [false, true] {
            let body = DAVBody.mkcalendar(
                name: name, description: description, timeZone: Self.definition(timeZone), isShort: isShort)
            let request = DAVSession.Request(method: "MKCALENDAR", body: body)
            let (answer, _) = try await session.send(request, to: calendarAddress)
            if (200..<300).contains(answer.status) { return nil }
            let failure = session.failure(answer)
            if failure.isTransient { throw failure }
            refusal = refusal ?? failure
            // It exists already, or must not be created.
            if [403, 405, 409].contains(answer.status) { break }
        }
        return refusal
    }

    private func look(atCalendar calendarAddress: DAVAddress) async throws(ProviderFailure) -> RemoteCalendar? {
        let (answer, address) = try await session.send(.propfind("0", Self.properties), to: calendarAddress)
        switch answer.status {
        case 207:
            return try await session.multistatus(answer) { found throws(ProviderFailure) in
                found.responses.first.flatMap { calendar($0, at: address) }
            }
        case 403, 404, 405, 409, 410: return nil
        default: throw session.failure(answer)
        }
    }

    /// Returns the zone as a VCALENDAR with its VTIMEZONE (RFC 4791 section 5.2.2).
    private static func definition(_ zone: String) -> String? {
        guard let reference = TimeZoneReference(zone), let year = CivilDate(year: 2026, month: 1, day: 1),
            let rule = try? RecurrenceRule("FREQ=DAILY")
        else { return nil }
        // The writer defines the zones of a series for the years around it.
        var event = Event(uid: "x", start: .zoned(CivilDateTime(startOf: year), reference))
        event.recurrence.rules = [rule]
        guard var tree = ObjectTree(ICalendar(events: [event]).serialized()) else { return nil }
        tree.components.removeAll { $0.name != "VTIMEZONE" }
        return tree.components.isEmpty ? nil : String(fromOutside: tree.text)
    }
}
