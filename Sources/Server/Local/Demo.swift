// SPDX-License-Identifier: Apache-2.0

import ICalBridge
package import KalendsCore
import ProgramFiles

/// Loads the samples, a circle with some weeks around today, through the API as a host application would.
package struct Demo: Sendable {
    package init() {}

    /// Loads the samples unless the database already has a circle.
    package func loadIfEmpty(_ settings: ServerSettings) async throws {
        let document = try JSONValue(parsing: ProgramFiles.bytes(of: "demo.json"))
        try await LocalClient.with(settings, creates: true) { client in
            guard try await client.all("/v1/circles").isEmpty else { return }
            try await Self.load(document, client)
        }
    }

    private static func load(_ document: JSONValue, _ client: LocalClient) async throws {
        guard let circle = document["circle"], let id = circle["id"]?.string,
            let zone = circle["timeZone"]?.string.flatMap({ TimeZoneReference($0) })
        else { throw InputFailure(description: "The demo has no circle with a time zone.") }
        let today = zone.rules.civil(at: Instant(milliseconds: systemClock())).date
        let base = "/v1/circles/\(id)"
        _ = try await client.json("PUT", base, without(circle, "id"))
        for member in document["members"]?.array ?? [] {
            _ = try await client.json("PUT", "\(base)/members/\(member["id"]?.string ?? "")", without(member, "id"))
        }
        for patient in document["patients"]?.array ?? [] {
            _ = try await client.json("PUT", "\(base)/patients/\(patient["id"]?.string ?? "")", without(patient, "id"))
        }
        for item in document["items"]?.array ?? [] {
            let path = "\(base)/\(item["collection"]?.string ?? "")/\(item["id"]?.string ?? "")"
            _ = try await client.json("PUT", path, try filled(item["value"] ?? .null, today: today, zone: zone))
        }
        for occurrence in document["occurrences"]?.array ?? [] {
            let start = try filled(occurrence["originalStart"] ?? .null, today: today, zone: zone)
            guard let instant = start.string.flatMap({ Instant(rfc3339: $0) }) else { continue }
            let path = "\(base)/appointments/\(occurrence["appointment"]?.string ?? "")/occurrences/\(instant.basic)"
            _ = try await client.json("PUT", path, try filled(occurrence["value"] ?? .null, today: today, zone: zone))
        }
        for name in (document["imports"]?.array ?? []).compactMap(\.string) {
            let file = ProgramFiles.bytes(of: name)
            guard !file.isEmpty else {
                throw InputFailure(description: "The demo has no file \(name).")
            }
            let answer = try await client.call(
                "POST", "\(base)/imports?mode=commit", body: file, contentType: "text/calendar")
            guard answer.status < 300 else { throw LocalClient.refused(answer) }
        }
        for feed in document["feeds"]?.array ?? [] {
            var body = feed.object ?? [:]
            body["userId"] = body.removeValue(forKey: "user")
            _ = try await client.json("POST", "\(base)/feeds", .object(body))
        }
    }

    private static func without(_ value: JSONValue, _ key: String) -> JSONValue {
        var members = value.object ?? [:]
        members[key] = nil
        return .object(members)
    }

    /// Replaces `{today+3 09:30}` (a time) and `{today-2}` (a day) wherever they appear.
    private static func filled(_ value: JSONValue, today: CivilDate, zone: TimeZoneReference) throws -> JSONValue {
        switch value {
        case .string(let text) where text.hasPrefix("{today") && text.hasSuffix("}"):
            let parts = text.dropFirst(6).dropLast().split(separator: " ", omittingEmptySubsequences: false)
            let days = parts.first.map { $0.isEmpty ? 0 : Int($0) } ?? 0
            guard let days else { throw InputFailure(description: "\(text) is not a day of the demo.") }
            let date = today.adding(days: days)
            guard parts.count == 2 else { return .string(date.description) }
            let time = parts[1].split(separator: ":").compactMap { Int($0) }
            guard time.count == 2, let wall = CivilDateTime(date: date, hour: time[0], minute: time[1]) else {
                throw InputFailure(description: "\(text) is not a time of the demo.")
            }
            let instant = zone.rules.instant(of: wall)
            return .string(instant.rfc3339(offset: zone.rules.offset(at: instant)))
        case .array(let items):
            return .array(try items.map { try filled($0, today: today, zone: zone) })
        case .object(let members):
            return .object(try members.mapValues { try filled($0, today: today, zone: zone) })
        default:
            return value
        }
    }
}
