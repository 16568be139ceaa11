// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Logging
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport
@testable import WebhookSending

@Suite("Webhooks beside each other")
struct WebhookLaneTests {
    @Test("A receiver that never answers delays no other, however many circles it has messages of")
    func hanging() async throws {
        try await HookReceiver.run { hanging in
            hanging.answer { _ in .silence }
            try await HookReceiver.run { healthy in
                try await TestServer.run { server in
                    _ = try await server.makeWebhook(hanging.url)
                    _ = try await server.makeWebhook(healthy.url, ["circles": ["c63"]])
                    for number in 0..<64 {
                        try await server.call(.put, "/v1/circles/c\(number)", ["name": "C", "timeZone": "UTC"])
                            .expect(201)
                    }
                    let log = server.log
                    let dispatch = WebhookDispatch(
                        services: server.services, logger: Logger(label: "hooks") { _ in log })
                    let running = Task { try await dispatch.run() }
                    let start = ContinuousClock.now
                    try await eventually("Both receivers have a message.") {
                        !healthy.messages.isEmpty && !hanging.messages.isEmpty
                    }
                    let (count, time) = (hanging.messages.count, ContinuousClock.now - start)
                    #expect(healthy.messages.map(\.circle) == ["c63"])
                    // It has a bound of its own, and each of its messages is given up after 15 seconds.
                    #expect(count <= 8 * (1 + Int(time / .seconds(14))) && count < 64)
                    running.cancel()
                    _ = await running.result
                }
            }
        }
    }

    @Test("Of each circle the first message that waits is due, and those of a webhook that is disabled are not")
    func due() async throws {
        try await TestServer.run { server in
            let id = try await server.makeWebhook("http://127.0.0.1:9/").id
            let now = server.clock.now
            try await server.services.store.record { transaction in
                for (number, circle) in ["b", "", "a", "b", "c", "a"].enumerated() {
                    var delivery = WebhookDelivery(
                        id: "m\(number)", webhookID: id, circleID: circle, firstNumber: 1, lastNumber: 1, now: now)
                    try transaction.insertDelivery(delivery)
                    if circle == "c" {
                        delivery.nextAt = now + 1
                        try transaction.updateDelivery(delivery)
                    }
                }
                func due(_ now: Int, _ limit: Int = 9) throws -> [String] {
                    try transaction.dueDeliveries(of: id, now: now, limit: limit).map(\.id)
                }
                #expect(try due(now) == ["m0", "m1", "m2"])
                #expect(try due(now, 2) == ["m0", "m1"])
                #expect(try due(now + 1) == ["m0", "m1", "m2", "m4"])
                #expect(try transaction.webhooksWithPending() == [id])
                var hook = try #require(try transaction.webhook(id))
                hook.isActive = false
                try transaction.putWebhook(hook)
                #expect(try due(now).isEmpty)
                #expect(try transaction.webhooksWithPending().isEmpty)
            }
        }
    }

    @Test("Trials that wait have a bound")
    func trials() async throws {
        try await TestServer.run { server in
            let id = try await server.makeWebhook("http://127.0.0.1:9/").id
            for _ in 0..<20 { try await server.call(.post, "/v1/webhooks/\(id)/test").expect(202) }
            let reply = try await server.call(.post, "/v1/webhooks/\(id)/test").expect(409)
            #expect(reply.json["code"] == "limit-reached" && reply.text.contains("20"))
        }
    }
}
