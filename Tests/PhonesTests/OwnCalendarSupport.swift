// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// A server with Ann's own calendars, as an app with her password uses them.
struct OwnBench: Sendable {
    let server: TestServer
    let ann = CalDAVCaller(passwordID: "phone", userID: "ann", mayWrite: true, circleIDs: nil, own: true)

    var own: OwnCalendars { server.services.ownCalendars }

    static func run(
        _ change: (inout Quotas) -> Void = { _ in }, _ body: @escaping @Sendable (OwnBench) async throws -> Void
    ) async throws {
        var settings = ServerSettings()
        change(&settings.quotas)
        try await TestServer.run(settings: settings) { try await body(OwnBench(server: $0)) }
    }

    @discardableResult
    func make(
        _ segment: String = "work", _ components: [CalendarComponent] = [.event],
        for caller: CalDAVCaller? = nil
    ) async throws -> CalendarCollection {
        try await own.make(segment, components: components, properties: [], for: caller ?? ann)
    }

    /// The calendar as it is now.
    func found(_ segment: String = "work", for caller: CalDAVCaller? = nil) async throws -> CalendarCollection {
        try #require(try await own.collection(segment, of: caller ?? ann))
    }

    @discardableResult
    func put(
        _ name: String, _ text: String, in segment: String = "work",
        if conditions: WriteConditions = WriteConditions(), for caller: CalDAVCaller? = nil
    ) async throws -> PutOutcome {
        try await own.put(
            Array(text.utf8), as: name, in: try await found(segment), if: conditions, for: caller ?? ann,
            room: nil)
    }

    func delete(
        _ name: String, from segment: String = "work", if conditions: WriteConditions = WriteConditions()
    ) async throws {
        try await own.delete(name, from: try await found(segment), if: conditions, for: ann, room: nil)
    }

    func text(_ name: String, in segment: String = "work") async throws -> String? {
        let resource = try await own.resources(of: try await found(segment), named: [name])[0]
        return try resource.map { String(decoding: try $0.text.get(), as: UTF8.self) }
    }

    /// The ETags of all resources by their names, read a few at a time.
    func list(_ segment: String = "work", page: Int = 3) async throws -> [ByteString: String] {
        let collection = try await found(segment)
        var (all, last) = ([ByteString: String](), String?.none)
        while true {
            let members = try await own.members(of: collection, after: last, limit: page)
            for member in members { all[ByteString(member.name)] = member.etag }
            guard members.count == page else { return all }
            last = members.last?.name
        }
    }

    static func event(
        _ uid: String, _ title: String = "Choir", start: String = "20260304T190000Z", end: String = "20260304T210000Z",
        _ more: String = "", kind: String = "VEVENT"
    ) -> String {
        """
        BEGIN:VCALENDAR\r
        VERSION:2.0\r
        PRODID:-//Example//EN\r
        BEGIN:\(kind)\r
        UID:\(uid)\r
        DTSTAMP:20260301T120000Z\r
        DTSTART:\(start)\r
        \(kind == "VEVENT" ? "DTEND:\(end)\r\n" : "")SUMMARY:\(title)\r
        \(more)END:\(kind)\r
        END:VCALENDAR\r

        """
    }
}

/// The kind of a fault, to be compared.
func kind(of fault: any Error) -> String {
    guard let fault = fault as? CollectionFault else { return "\(fault)" }
    switch fault {
    case .missing: return "missing"
    case .preconditionFailed: return "precondition"
    case .needsPrivileges: return "privileges"
    case .uidConflict(let segment, let name): return "uid \(segment)/\(name)"
    case .invalidData: return "data"
    case .invalidObject: return "object"
    case .unsupportedComponent: return "component"
    case .tooLarge(let bytes): return "large \(bytes)"
    case .invalidSyncToken: return "token"
    case .insufficientStorage: return "storage"
    case .exists: return "exists"
    case .forbidden: return "forbidden"
    }
}

/// The kind of the fault with which a call is refused; empty when it is not.
func fault(_ call: () async throws -> some Any) async -> String {
    do {
        _ = try await call()
        return ""
    } catch {
        return kind(of: error)
    }
}
