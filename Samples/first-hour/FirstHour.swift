// SPDX-License-Identifier: Apache-2.0
// A host application's first hour with Kalends, in Swift on the server: AsyncHTTPClient asks, Hummingbird listens, and
// swift-crypto checks signatures.
//
//     KALENDS_KEY=$(kalends key create --name my-app) swift run FirstHour [CIRCLE]

import AsyncHTTPClient
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServiceLifecycle

// 1. Asking

/// What the server refused. Branch on `code`, which never changes its meaning; the sentences are for people.
struct Refused: Error, Decodable {
    struct Fault: Decodable {
        let pointer: String
        let code: String
        let message: String
    }

    let code: String
    let title: String
    let detail: String?
    let errors: [Fault]?
    let feedId: String?
}

struct Nothing: Codable {}

/// The API of a server, as the host application calls it.
struct Kalends {
    let server: String
    let key: String

    /// The document that the server answers, and its entity tag.
    @discardableResult
    func call<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, _ value: some Encodable = Nothing(), ifMatch: String? = nil,
        as: Answer.Type = Nothing.self
    ) async throws -> (value: Answer, tag: String) {
        let body = value is Nothing ? Data() : try JSONEncoder().encode(value)
        return try await send(method, path, body, "application/json", ifMatch)
    }

    /// The same with a body that is not one JSON document.
    func send<Answer: Decodable>(
        _ method: HTTPMethod, _ path: String, _ body: Data, _ mediaType: String, _ ifMatch: String? = nil
    ) async throws -> (value: Answer, tag: String) {
        var request = HTTPClientRequest(url: server + path)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        request.headers.add(name: "Content-Type", value: mediaType)
        if let ifMatch {
            request.headers.add(name: "If-Match", value: ifMatch)
        }
        if !body.isEmpty {
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        for attempt in 0... {
            let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
            let text = Data(try await answer.body.collect(upTo: 16 << 20).readableBytesView)
            switch answer.status.code {
            case 200..<300:
                let value = try JSONDecoder().decode(Answer.self, from: text.isEmpty ? Data("{}".utf8) : text)
                return (value, answer.headers.first(name: "ETag") ?? "")
            case 429 where attempt < 4, 503 where attempt < 4:
                // Too much at once, or a database that is away for a moment: the same is right a little later.
                try await Task.sleep(for: .seconds(Int(answer.headers.first(name: "Retry-After") ?? "1") ?? 1))
            default:
                throw try JSONDecoder().decode(Refused.self, from: text)
            }
        }
        fatalError("The loop ends by what it returns or throws.")
    }
}

// 2. Hearing of changes

struct Change: Decodable {
    let number: Int
    let type: String
    let change: String
    let id: String?
}

/// Takes the messages. A message may come twice, with the same id: it is worked on once.
actor Receiver {
    private struct Message: Decodable {
        struct Changes: Decodable {
            let to: Int
            let items: [Change]
        }
        let data: Changes
    }

    private var secret = ""
    private(set) var seen: [String: [Change]] = [:]
    private(set) var heardUntil = 0
    private(set) var refused = 0

    func use(secret: String) {
        self.secret = secret
    }

    /// Whether the message was taken.
    func take(_ headers: HTTPFields, _ body: Data) throws -> Bool {
        guard let id = headers.webhook("id"), isGenuine(headers, body) else {
            refused += 1
            return false
        }
        if seen[id] == nil {
            let data = try JSONDecoder().decode(Message.self, from: body).data
            seen[id] = data.items
            heardUntil = max(heardUntil, data.to)
        }
        return true
    }

    /// Whether Kalends signed these bytes, within the last five minutes (docs/host-application.md).
    private func isGenuine(_ headers: HTTPFields, _ body: Data) -> Bool {
        guard let id = headers.webhook("id"), let stamp = headers.webhook("timestamp"), let seconds = Double(stamp),
            abs(Date().timeIntervalSince1970 - seconds) <= 300, let signatures = headers.webhook("signature")
        else {
            return false
        }
        let text = secret.dropFirst("kal_wh_".count).replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let key = Data(base64Encoded: text + padding) else { return false }
        let signed = Data("\(id).\(stamp).".utf8) + body
        return signatures.split(separator: " ").contains { one in
            guard one.hasPrefix("v1,"), let given = Data(base64Encoded: String(one.dropFirst(3))) else { return false }
            // The comparison takes the same time wherever the two differ.
            return HMAC<SHA256>.isValidAuthenticationCode(
                given, authenticating: signed, using: SymmetricKey(data: key))
        }
    }
}

extension HTTPFields {
    /// The message's own header `webhook-…`.
    func webhook(_ name: String) -> String? {
        first { $0.name.canonicalName == "webhook-\(name)" }?.value
    }
}

@main
struct FirstHour {
    static func main() async throws {
        let settings = ProcessInfo.processInfo.environment
        let api = Kalends(
            server: settings["KALENDS_URL"] ?? "http://localhost:8080", key: settings["KALENDS_KEY"] ?? "")
        let circleID = CommandLine.arguments.dropFirst().first ?? "first-hour"

        let receiver = Receiver()
        let router = Router()
        router.post("/kalends") { request, _ -> HTTPResponse.Status in
            let body = Data(try await request.body.collect(upTo: 1 << 20).readableBytesView)
            return try await receiver.take(request.headers, body) ? .noContent : .unauthorized
        }
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        var log = Logger(label: "first-hour")
        log.logLevel = .warning
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: Int(settings["WEBHOOK_PORT"] ?? "0") ?? 0)),
            onServerRunning: { opened.yield($0.localAddress?.port ?? 0) }, logger: log)
        try await withThrowingTaskGroup { group in
            let services = ServiceGroup(services: [application], logger: log)
            group.addTask { try await services.run() }
            for await port in ports {
                let address = settings["WEBHOOK_URL"] ?? "http://127.0.0.1:\(port)/kalends"
                try await hour(api, circleID, receiver, address)
                await services.triggerGracefulShutdown()
                opened.finish()
            }
        }
    }

    static func hour(_ api: Kalends, _ circleID: String, _ receiver: Receiver, _ address: String) async throws {
        let webhook = try await api.call(
            .POST, "/v1/webhooks", NewWebhook(url: address, circles: [circleID]), as: Webhook.self
        ).value
        // Shown this once: keep it as you keep a password.
        await receiver.use(secret: webhook.secret)

        // 3. A circle, its people, and something of each kind

        let circle = "/v1/circles/\(circleID)"
        let tomorrow = Date.now.addingTimeInterval(86_400).ISO8601Format(.iso8601.year().month().day())
        try await api.call(.PUT, circle, Circle(name: "Rossi family", timeZone: "Europe/Rome"))
        try await api.call(.PUT, "\(circle)/members/ada", Member(displayName: "Ada", role: "owner"))
        try await api.call(.PUT, "\(circle)/members/ben", Member(displayName: "Ben", role: "member"))
        try await api.call(.PUT, "\(circle)/patients/ma", Patient(displayName: "Mamma"))
        var pills = NewTask(dueAt: "\(tomorrow)T09:00:00+01:00")
        let first = try await api.call(.PUT, "\(circle)/tasks/pills", pills, as: Item.self)
        try await api.call(
            .PUT, "\(circle)/shifts/night",
            Shift(
                patientId: "ma", ownerId: "ben", startAt: "\(tomorrow)T20:00:00+01:00",
                endAt: "\(tomorrow)T23:00:00+01:00"))
        try await api.call(
            .PUT, "\(circle)/appointments/cardio",
            Appointment(
                patientId: "ma", provider: "Dr. Wu", startAt: "\(tomorrow)T14:30:00+01:00",
                recurrence: ["rrule": "FREQ=WEEKLY;COUNT=4"]))
        try await api.call(
            .PUT, "\(circle)/follow-ups/results",
            FollowUp(description: "Ask for the results", dueAt: "\(tomorrow)T16:00:00+01:00"))
        let again = try await api.call(.PUT, "\(circle)/tasks/pills", pills, as: Item.self)
        let difference = again.value.sequence - first.value.sequence
        print("1 item of each of 4 kinds; the same PUT again changed \(difference) things")

        // 4. Many at once: one line of JSON each. Good lines are applied, and the others are named.

        var lines = (0..<24).map { number in
            let hour = 8 + number / 2
            return BatchLine(
                id: "walk-\(number)",
                value: .init(title: "Walk \(number)", dueAt: "\(tomorrow)T\(hour < 10 ? "0" : "")\(hour):30:00+01:00"))
        }
        lines.append(BatchLine(id: "walk-24", value: .init(title: nil, dueAt: "\(tomorrow)T21:00:00+01:00")))
        let batch = try lines.reduce(into: Data()) { $0 += try JSONEncoder().encode($1) + Data("\n".utf8) }
        let sent: (value: BatchReport, tag: String) =
            try await api.send(.POST, "\(circle)/batch", batch, "application/x-ndjson")
        let report = sent.value
        print("batch: \(report.applied + report.unchanged) of \(lines.count) lines are in the circle")
        for line in report.rejected {
            for fault in line.errors {
                print("batch: line \(line.line) (\(line.id ?? "no id")): \(fault.code) at \(fault.pointer)")
            }
        }

        // 5. Lists come in pages

        var tasks: [Item] = []
        var pages = 0
        var cursor: String?
        repeat {
            let more = cursor.map { "&cursor=\($0)" } ?? ""
            let page = try await api.call(.GET, "\(circle)/tasks?limit=10\(more)", as: Page<Item>.self).value
            tasks += page.items
            pages += 1
            cursor = page.nextCursor
        } while cursor != nil
        print("list: \(tasks.count) tasks in \(pages) pages")

        // 6. Refusals, by their code

        var feed: Feed
        do {
            feed = try await api.call(
                .POST, "\(circle)/feeds", NewFeed(userId: "ada", label: "Phone"), as: Feed.self
            ).value
        } catch let refused as Refused where refused.code == "label-taken" {
            // From an earlier run.
            let id = refused.feedId ?? ""
            feed = Feed(id: id, url: try await api.call(.POST, "/v1/feeds/\(id)/reveal", as: Address.self).value.url)
        }

        do {
            try await api.call(.PUT, "\(circle)/tasks/wrong", ["titel": "Refill", "dueAt": "tomorrow"])
        } catch let refused as Refused where refused.code == "invalid-fields" {
            let faults = (refused.errors ?? []).map { "\($0.code) at \($0.pointer)" }
            print("refused: \(faults.sorted().joined(separator: ", "))")
        }

        // Somebody else was faster: with If-Match nothing is overwritten unseen.
        pills.notes = "Ben was here."
        try await api.call(.PUT, "\(circle)/tasks/pills", pills, ifMatch: first.tag)
        pills.notes = nil
        pills.durationMinutes = 45
        do {
            try await api.call(.PUT, "\(circle)/tasks/pills", pills, ifMatch: first.tag)
        } catch let refused as Refused where refused.code == "precondition-failed" {
            let latest = try await api.call(.GET, "\(circle)/tasks/pills", as: Item.self)
            pills.notes = latest.value.notes
            let merged = try await api.call(
                .PUT, "\(circle)/tasks/pills", pills, ifMatch: latest.tag, as: Item.self
            ).value
            let both = "\(merged.durationMinutes), \(merged.notes ?? "")"
            print("refused: \(refused.code); read again, and both changes are in: \(both)")
        }

        // 7. A feed, as a calendar app reads it

        let whole = try await read(feed.url)
        let events = whole.text.split(separator: "BEGIN:VEVENT", omittingEmptySubsequences: false).count - 1
        let unchanged = try await read(feed.url, whole.tag)
        print("feed: \(whole.status) with \(events) events, then \(unchanged.status)")
        try await api.call(
            .PUT, "\(circle)/tasks/pills", NewTask(title: "Refill pills and vitamins", dueAt: pills.dueAt))
        let changed = try await read(feed.url, whole.tag)
        let isNew = changed.text.contains("Refill pills and vitamins")
        print("feed: after a change \(changed.status), with the new title: \(isNew)")
        let renewed = try await api.call(
            .POST, "/v1/feeds/\(feed.id)/regenerate", ["graceSeconds": 0], as: Address.self
        ).value
        let (before, after) = (try await read(feed.url), try await read(renewed.url))
        print("feed: the old address \(before.status), the new one \(after.status)")

        // 8. What the webhook said, and what it may have missed

        var changes: [Change] = []
        var latest = 0
        var since: Int? = 0
        while let number = since {
            let path = "\(circle)/changes?since=\(number)&limit=1000"
            let page = try await api.call(.GET, path, as: Changes.self).value
            changes += page.items
            (latest, since) = (page.latest, page.nextCursor)
        }
        let deadline = ContinuousClock.now + .seconds(30)
        while await receiver.heardUntil < latest, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(50))
        }
        let messages = await receiver.seen
        let heard = Set(messages.values.joined().map(\.number))
        let missed = changes.count { $0.number > heard.min() ?? latest && !heard.contains($0.number) }
        let refused = await receiver.refused
        print("webhook: \(messages.count) messages verified, \(refused) refused, \(missed) changes missed")
        try await api.call(.DELETE, "/v1/webhooks/\(webhook.id)")
    }

    /// The status, the entity tag and the text of a calendar.
    static func read(_ url: String, _ tag: String? = nil) async throws -> (status: UInt, tag: String, text: String) {
        var request = HTTPClientRequest(url: url)
        if let tag {
            request.headers.add(name: "If-None-Match", value: tag)
        }
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let text = try await answer.body.collect(upTo: 16 << 20)
        return (answer.status.code, answer.headers.first(name: "ETag") ?? "", String(buffer: text))
    }
}
