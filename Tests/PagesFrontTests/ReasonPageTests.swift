// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import Storage
import Synchronization
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import Pages
@testable import ServerTestSupport

@Suite("Pages say why something failed in the reader's language")
struct ReasonPageTests {
    private static func names(_ texts: [String]) -> Set<ByteString> { Set(texts.map { ByteString($0) }) }

    @Test("Every reason that is stored has one on pages")
    func codes() {
        let pairs = [
            (SyncProblem.allCases.map(\.rawValue), ConnectionProblem.allCases.map(\.rawValue)),
            (EntryField.allCases.map(\.rawValue), ConnectionField.allCases.map(\.rawValue)),
            (Subscription.Problem.allCases.map(\.rawValue), SubscriptionProblem.allCases.map(\.rawValue)),
        ]
        for (stored, shown) in pairs { #expect(Self.names(stored) == Self.names(shown)) }
    }

    @Test("Every reason has words of its own in each language", arguments: Language.allCases)
    func words(_ language: Language) {
        let words = Words.of(language)
        let texts =
            ConnectionProblem.allCases.map { words.text($0) } + SubscriptionProblem.allCases.map { words.text($0) }
            + ConnectionField.allCases.map { words.text([$0]) }
            + [HoldCause.restored, .empty, .shared(2), .missing(2), .deletions(2)].map { words.text([$0]) }
        #expect(Self.names(texts).count == texts.count)
        for text in texts { #expect(text.hasSuffix(".") && !text.contains("_"), "\(text)") }
    }

    @Test(
        "Runs, events and followed calendars: the page has the language's words, and none of a provider's",
        arguments: Language.allCases)
    func pages(_ language: Language) async throws {
        try await SyncBench.run { bench in
            let (server, words) = (bench.server, Words.of(language))
            try await server.call(.put, "/v1/users/ann/password", ["password": "ann's password"]).expect(201)
            let ann = try await Browser.signedIn("ann", server)
            func page(_ path: String) async throws -> String {
                let answer = try await ann.open(path, headers: [.acceptLanguage: language.rawValue])
                return try answer.expect(200).text
            }
            try await bench.fill(1)
            let id = try await server.connect()
            bench.calendars[id].fail(ProviderFailure(.throttled(retryAfter: nil), "Slow down there."))
            try await bench.run(id)
            let connection = try await page("/app/circles/c/connections/\(id)")
            #expect(connection.contains(words.text(ConnectionProblem.throttled)) && !connection.contains("Slow down"))
            bench.calendars[id].limits.withLock { limits in
                limits = { _ in [Limitation(field: .title, message: "No such rule.", preventsWriting: true)] }
            }
            server.clock.advance(seconds: 86_400)
            try await bench.run(id)
            var sync = try await page("/app/circles/c/calendar-sync")
            #expect(sync.contains(words.text(ConnectionProblem.repetition)) && !sync.contains("No such rule"))
            bench.calendars[id].limits.withLock { limits in
                limits = { _ in [Limitation(field: .reminders, message: "Only one is kept.")] }
            }
            try await server.put(
                "appointments", "a0",
                ["patientId": "mom", "provider": "Dr. Other", "startAt": "2026-04-02T09:00:00-07:00"])
            try await bench.run(id)
            sync = try await page("/app/circles/c/calendar-sync")
            #expect(sync.contains(words.text([ConnectionField.reminders])) && !sync.contains("Only one"))
            let made = try await server.call(
                .post, "/v1/circles/c/subscriptions", ["url": "https://calendar.example/club.ics"], as: "ann"
            ).expect(201)
            let followed = try #require(made.json["id"]?.string)
            try await server.services.store.write { transaction in
                var own = try #require(try transaction.subscription(followed))
                (own.problem, own.lastProblem) = (.signIn, "The host wants a sign-in.")
                try transaction.putSubscription(own)
            }
            for path in ["/app/circles/c/subscriptions", "/app/health"] {
                let shown = try await page(path)
                #expect(
                    shown.contains(words.text(SubscriptionProblem.signIn)) && !shown.contains("The host wants"),
                    "\(path)")
            }
        }
    }
}
