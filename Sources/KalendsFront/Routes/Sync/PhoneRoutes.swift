// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The data that a phone's program sends and fetches; times are milliseconds since 1970 here.
struct PhoneRoutes: Sendable {
    let services: Services

    /// The maximum number of events in one body, and its maximum size in bytes.
    static let mostEvents = 5000
    static let mostBytes = 16 << 20

    private static let upsertShape = JSONShape.object([
        "sourceDevice": .scalar, "problem": .scalar, "events": .list(of: SentEvent.shape, most: mostEvents),
    ])

    func add(to routes: inout RouteTable) {
        routes.section(.phones)
        let changes = Schema.named("EventChanges")
        routes.on(
            .get, "/sync/apple/status", "getPhoneStatus", "Read the status of a phone's synchronization", .phone,
            .scope(.events), [.ok(.named("PhoneStatus"))], status)
        routes.on(
            .get, "/sync/apple/events/changes", "listAppleChanges",
            "List changes of the events that are linked with Apple", .phone, .scope(.events),
            details: Self.changesDetails, query: Self.since, [.ok(changes)], takesLong: true
        ) { try await changed("apple", $0, $1) }
        routes.on(
            .get, "/sync/events/changes", "listEventChanges", "List changes of all events", .phone, .scope(.events),
            details: Self.changesDetails, query: Self.since, [.ok(changes)], takesLong: true
        ) { try await changed(nil, $0, $1) }
        routes.on(
            .post, "/sync/apple/events/upsert", "upsertAppleEvents", "Accept events from a phone's calendar", .phone,
            .scope(.events),
            details: "Each event is checked by itself. Missing or null fields stay as they are; an empty text clears a "
                + "text. Of `lastModified` (else the moment of arrival, never later) and the last change here, the "
                + "later one wins. Unknown fields are ignored.", body: .json(.named("Upsert")),
            [.ok(.named("UpsertReport"))], takesLong: true, upsert)
    }

    private static let changesDetails =
        "Oldest first; a reader that asks again with `nextSince` sees every change exactly once."

    private static let since: [Operation.Parameter] = [
        .init(
            name: "since",
            schema: Schema.integer(SentEvent.times).defaulting(to: 0).described("`nextSince` of the previous page.")),
        .init(name: "limit", schema: Schema.integer(1...2000).defaulting(to: 500)),
    ]

    /// How many events are read at a time: they may be large, and are held until they are written.
    private static let piece = 100

    private func changed(
        _ provider: String?, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let caller = try context.caller()
        let since = try request.queryInteger("since", in: SentEvent.times, default: 0)
        let limit = try request.queryInteger("limit", in: 1...2000, default: 500)
        let items = services.phoneItems(context.logger)
        // A query for one provider receives items only after they are linked.
        try await items.attend(caller, since: provider == nil ? since : nil)
        try await items.note(.asksForChanges, of: caller)
        let wasEnded = try await services.appleConnector.wasEnded(for: caller)
        let marks = try await items.marks(for: caller)
        let now = services.now()
        let text = try await services.personalEvents.changes(provider: provider, for: caller) { fetch in
            var text = ChangesText(since: since, marks: marks, wasEnded: wasEnded, context.memory.answer)
            while true {
                let wanted = min(limit + 1 - text.count, Self.piece)
                let found = try fetch(text.last, wanted)
                for event in found {
                    guard text.count < limit, try text.add(event) else {
                        return text.finished(hasMore: true, serverTime: now)
                    }
                }
                if found.count < wanted { return text.finished(hasMore: false, serverTime: now) }
            }
        }
        return .json(text: text)
    }

    private func status(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let connector = try await services.appleConnector.get(for: caller)
        let status = try await services.personalEvents.status(for: caller)
        return try .json(PersonalEvents.Status.view.json((status, connector)))
    }

    private func upsert(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let items = services.phoneItems(context.logger)
        // A run may have to wait for others, and the body's memory may not.
        try await items.attend(caller, since: nil)
        var (taken, names, problem) = try await take(request, context, for: caller)
        context.memory.letGo()
        try await items.judge(&taken, problem: problem, for: caller)
        return try .json(taken.json { names[$0] })
    }

    /// Takes what a phone sends; returns the device's ids for the events together with the results.
    private func take(
        _ request: Request, _ context: KalendsContext, for caller: Caller
    ) async throws -> (PersonalEvents.Taken, names: [String?], PhoneProblem?) {
        let body = try await request.phoneJSON(context, keeping: Self.upsertShape)
        var fields = FieldReader(body)
        let own = try await services.personalEvents.source(for: caller)
        let device = fields.text("sourceDevice")
        let problem = fields.choice("problem", PhoneProblem.self)
        let events = fields.events(most: Self.mostEvents)
        try fields.check()
        let sent = events.enumerated().map { SentEvent($1, at: Self.pointer($0), from: device, by: own) }
        let taken = try await services.personalEvents.take(sent, at: Self.pointer, for: caller)
        return (taken, sent.map(\.externalID), problem)
    }

    private static func pointer(_ index: Int) -> String { "/events/\(index)" }
}

extension FieldReader {
    /// The events of a phone's body.
    mutating func events(most: Int) -> [JSONValue] {
        guard let value = value("events") else {
            if !has("events") { fault("events", code: .required, "This is required.") }
            return []
        }
        guard case .array(let events) = value else {
            fault("events", code: .wrongType, "This must be a list of events.")
            return []
        }
        if events.count > most { fault("events", code: .tooMany, "There must be at most \(most) events.") }
        return events
    }
}

extension Request {
    /// A phone's document takes this many times its length in memory, with its text, while it is handled: its events
    /// have many short members.
    private static let phoneFactor = 9

    /// The members of a phone's body that a shape keeps; throws 400 when it is not JSON, 413 over 16 MiB.
    ///
    /// The rest of the body is not parsed into values, and a refusal names no part of it.
    func phoneJSON(_ context: KalendsContext, keeping shape: JSONShape) async throws -> JSONValue {
        let bytes = try await bytes(limit: PhoneRoutes.mostBytes, times: Self.phoneFactor, context)
        if bytes.isEmpty { return [:] }
        do throws(JSONFault) {
            return try JSONValue(parsing: bytes, keeping: shape)
        } catch {
            throw Refusal(
                .badRequest, code: .invalidJSON,
                detail: "The body is not a valid JSON document.",
                faults: [Fault(pointer: "", code: .malformed, message: error.message)])
        }
    }
}

extension PersonalEvents.Taken {
    /// - Parameter externalID: returns the external id of the event at an index.
    fileprivate func json(_ externalID: (Int) -> String?) -> JSONValue {
        var list = RejectedList()
        for (index, faults) in rejected {
            var members = faults.members
            members["index"] = .integer(index)
            members["externalId"] = JSONValue(externalID(index))
            list.add(.object(members))
        }
        let members: [ByteString: JSONValue] = [
            "upserted": .integer(created + updated), "created": .integer(created), "updated": .integer(updated),
            "unchanged": .integer(unchanged), "serverTime": .integer(serverTime),
            "events": .array(
                taken.compactMap { index, event in
                    event.map { event in
                        var members: [ByteString: JSONValue] = [
                            "index": .integer(index), "id": .string(event.id), "updatedAt": .integer(event.updatedAt),
                        ]
                        if event.source != nil {
                            let isOpen = undecided.contains(ByteString(event.id))
                            members["syncState"] = .string(isOpen ? "conflict" : event.state)
                        }
                        return .object(members)
                    }
                }),
        ]
        return .object(members.merging(list.members("rejected")) { $1 })
    }
}

extension AppleConnector.Shown: Viewed {
    /// The connector as a phone shows it.
    static let view = View<AppleConnector.Shown>([
        .text("state") { $0.uses != nil ? "connected" : $0.wasEnded ? "disconnected" : "notConnected" }.documented(
            Schema.one(of: ["connected", "notConnected", "disconnected"]).described(
                "As the connector's page shows it; `disconnected` after it was ended on the server.")),
        .flag("read") { $0.uses?.read ?? false }, .flag("write") { $0.uses?.write ?? false },
    ])
}

extension PersonalEvents.Status {
    static let view = View<(status: Self, connector: AppleConnector.Shown)>([
        .flag("ok") { _ in true }, .text("provider") { _ in "apple" }, .id("user", \.status.user),
        .optional("device", .named("Device"), \.status.device, \.json),
        .count("serverTime", \.status.serverTime).documented(Components.milliseconds),
        .init("capabilities", .array(of: .string)) { _ in
            ["changes", "upsert", "deletions", "recurrence", "lastModified", "planned"]
        }, .object("connector", \.connector, AppleConnector.Shown.view),
        .list("connections", \.status.connections, of: PersonalEvents.Carried.view),
        .object(
            "counts", \.status.counts,
            View([
                .count("events", \.events), .count("linked", \.linked), .count("pending", \.pending),
                .count("conflicts", \.conflicts),
            ])),
    ])
}

extension PersonalEvents.Carried: Viewed {
    static let view = View<Self>([
        .text("id", \.own.id), .id("circleId", \.own.circleID), .text("label", \.own.label),
        .choice("state", \.own.state),
        .flag("isCarrier", \.isAsking).described("Whether the requesting device carries the connection."),
        .count("turn", \.carrier.turn),
        .object(
            "carrier", { carried in carried.device.map { ($0, carried.carrier.seenAt) } },
            View<(device: Device, seenAt: Int?)>([
                .text("deviceId", \.device.deviceID), .text("label", \.device.name),
                .count("lastSeenAt", \.seenAt).documented(Components.milliseconds.orNull),
            ])),
        .object(
            "counts", \.counts,
            View([.count("linked", \.linked), .count("pending", \.pending), .count("conflicts", \.conflicts)])),
    ])
}
