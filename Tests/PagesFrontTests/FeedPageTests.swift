// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Pages
import Testing

@testable import ServerTestSupport

@Suite("The feeds' pages")
struct FeedPageTests {
    private static let sync = "/app/circles/c/calendar-sync"

    @Test("Who read the feed as a new program says so, and its address stays; its last day is moved and taken away")
    func seenAndEnd() async throws {
        try await TestServer.withPasswords { server in
            let feed = try await server.makeFeed(label: "Phone")
            try await server.raw(.get, feed.path, headers: [.userAgent: "iOS/18.1 (22B83) dataaccessd/1.0"]).expect(200)
            server.clock.advance(seconds: 8 * 86_400)
            try await server.raw(.get, feed.path, headers: [.userAgent: "Thunderbird/140.0"]).expect(200)
            let ann = try await Browser.signedIn("ann", server)
            let path = "/app/circles/c/feeds/\(feed.id)"
            let page = try await ann.open(path).expect(200)
            #expect(page.text.contains("That was me"))
            try await ann.send(page, to: path + "/seen", [:]).expect(200)
            let seen = try await ann.open(path).expect(200)
            #expect(!seen.text.contains("That was me"))
            try await server.raw(.get, feed.path).expect(200)

            for typed in ["2026-04-30", ""] {
                try await ann.send(seen, to: path, ["part": "end", "until": typed]).expect(200)
                let stored = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json["expiresAt"]
                // The day ends where Ann is, west of UTC.
                #expect(stored?.string?.hasPrefix("2026-05-01T0") == (typed.isEmpty ? nil : true))
                let page = try await ann.open(path).expect(200)
                #expect(page.text.contains("value=\"2026-04-30\"") == !typed.isEmpty)
            }
            let past = try await ann.send(seen, to: path, ["part": "end", "until": "2020-01-01"]).expect(422)
            #expect(past.text.contains("Choose a day that is not in the past.") && past.text.contains("2020-01-01"))
        }
    }

    @Test("A feed is made by a form, whose answer shows its address once, to be kept nowhere")
    func create() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let form = try await ann.open(Self.sync).expect(200)
            let made = try await ann.send(
                form, to: "/app/circles/c/feeds",
                [
                    "label": "Phone", "kinds": "shift,appointment", "patients": "mom", "detail": "titles",
                    "pastDays": "7",
                ])
            try made.expect(200)
            let address = try #require(made.text.firstMatch(of: /http:\/\/calendar\.example(\/feeds\/[^"<\s]+)/)?.1)
            #expect(made.headers[.cacheControl] == "no-store" && made.text.contains("The feed is ready."))
            try await server.raw(.get, String(address)).expect(200)
            let feeds = try await server.call(.get, "/v1/circles/c/feeds", as: "ann").expect(200)
            let feed = try #require(feeds.json["items"]?.array?.first)
            let config = try #require(feed["config"])
            #expect(feed["label"] == "Phone" && config["detail"] == "titles" && config["pastDays"] == 7)
            #expect(config["includeTasks"] == false && config["includeShifts"] == true)
            #expect(config["includeImported"] == false && config["patientIds"] == ["mom"])
            let secret = address.split(separator: "/")[1]
            #expect(!ann.history.contains { $0.contains(secret) } && !server.log.text.contains(secret))
            // Afterwards it is hidden, until somebody asks.
            let id = try #require(feed["id"]?.string)
            let page = try await ann.open("/app/circles/c/feeds/\(id)").expect(200)
            #expect(!page.text.contains(secret) && page.headers[.cacheControl] == "private, no-cache")
            let shown = try await ann.send(page, to: "/app/circles/c/feeds/\(id)/reveal").expect(200)
            #expect(shown.text.contains(secret) && shown.headers[.cacheControl] == "no-store")
            #expect(shown.text.contains("webcal://") && shown.text.contains("<svg"))
            #expect(!(shown.text.firstMatch(of: /<title>.*<\/title>/)?.0.contains(secret) ?? true))
            // The form's own address by itself leads to its page.
            try await ann.open("/app/circles/c/feeds/\(id)/reveal?ask=revoke").expect(200)
            #expect(ann.history.last == "/app/circles/c/feeds/\(id)?ask=revoke")
        }
    }

    @Test("What is wrong comes back at its field with all that was typed, and nothing is made")
    func faults() async throws {
        try await TestServer.withPasswords { server in
            _ = try await server.makeFeed(label: "Phone")
            let ann = try await Browser.signedIn("ann", server)
            let form = try await ann.open(Self.sync)
            let wrong = try await ann.send(
                form, to: "/app/circles/c/feeds", ["label": "My <label>", "kinds": "task", "pastDays": "99999"])
            try wrong.expect(422)
            #expect(wrong.text.contains("Choose a number between the limits."))
            #expect(wrong.text.contains("value=\"My &lt;label&gt;\"") && wrong.text.contains("value=\"99999\""))
            #expect(wrong.text.contains("href=\"#feed-pastDays\"") && wrong.text.contains("aria-invalid=\"true\""))
            let again = try #require(HTMLForm.all(in: wrong.text).first { $0.action == "/app/circles/c/feeds" })
            #expect(again.fields.filter { $0.name == "kinds" }.map(\.value) == ["task"])
            let taken = try await ann.send(wrong, to: "/app/circles/c/feeds", ["label": "Phone", "pastDays": "1"])
            try taken.expect(422)
            #expect(taken.text.contains("You already have one with this label."))
            for (name, value) in [("pastDays", "x"), ("detail", "everything"), ("patients", "nobody")] {
                let answer = try await ann.post(
                    "/app/circles/c/feeds",
                    [("token", try #require(again.token)), ("label", "Other"), (name, value)])
                try answer.expect(422)
            }
            let feeds = try await server.call(.get, "/v1/circles/c/feeds", as: "ann").expect(200)
            #expect(feeds.json["items"]?.array?.count == 1)
        }
    }

    @Test("A feed is changed, given a new address, revoked and removed by its page's forms")
    func life() async throws {
        try await TestServer.withPasswords { server in
            let feed = try await server.makeFeed(label: "Phone")
            let ann = try await Browser.signedIn("ann", server)
            let path = "/app/circles/c/feeds/\(feed.id)"
            func api() async throws -> JSONValue {
                try await server.call(.get, "/v1/feeds/\(feed.id)", as: "ann").expect(200).json
            }
            var page = try await ann.open(path).expect(200)
            // Each group of settings is a form that is saved by itself, and leaves the others as they are.
            #expect(HTMLForm.all(in: page.text).filter { $0.action == path }.count == ContentGroup.allCases.count)
            page = try await ann.send(page, to: path, ["kinds": "task"]).expect(200)
            #expect(page.text.contains("Saved.") && ann.history.last == path + "?done=feedChanged")
            var changed = try await api()
            #expect(changed["label"] == "Phone" && changed["config"]?["includeReminders"] == true)
            #expect(changed["config"]?["includeTasks"] == true && changed["config"]?["includeShifts"] == false)
            page = try await ann.send(page, to: path, ["includeReminders": nil]).expect(200)
            page = try await ann.send(page, to: path, ["label": ""]).expect(200)
            changed = try await api()
            #expect(changed["label"] == .null && changed["config"]?["includeReminders"] == false)
            #expect(changed["config"]?["includeTasks"] == true && changed["config"]?["includeShifts"] == false)
            let wrong = try await ann.send(page, to: path, ["futureDays": "-1"]).expect(422)
            #expect(wrong.text.contains("href=\"#feed-span-futureDays\"") && wrong.text.contains("value=\"-1\""))
            #expect(wrong.text.components(separatedBy: "aria-invalid=\"true\"").count == 2)

            // The question is on the page without scripts too.
            let asked = try await ann.open(path + "?ask=regenerate").expect(200)
            #expect(asked.text.contains("<dialog id=\"regenerate\"") && asked.text.contains(" open>"))
            let renewed = try await ann.send(asked, to: path + "/regenerate", ["graceSeconds": "0"]).expect(200)
            #expect(renewed.text.contains("The old address has ended"))
            try await server.raw(.get, feed.path).expect(410)
            let fresh = try #require(renewed.text.firstMatch(of: /http:\/\/calendar\.example(\/feeds\/[^"<\s]+)/)?.1)
            try await server.raw(.get, String(fresh)).expect(200)
            let odd = [("token", HTMLForm.all(in: asked.text)[0].token ?? ""), ("graceSeconds", "99999999")]
            try await ann.post(path + "/regenerate", odd).expect(422)

            #expect(!renewed.text.contains("Old address works until"))
            let again = try await ann.open(path + "?ask=regenerate").expect(200)
            let graced = try await ann.send(again, to: path + "/regenerate", ["graceSeconds": "86400"]).expect(200)
            #expect(graced.text.contains("Old address works until"))

            page = try await ann.open(path)
            page = try await ann.send(page, to: path + "/revoke").expect(200)
            #expect(page.text.contains("The feed is revoked."))
            #expect(try await api()["revokedAt"] != .null)
            page = try await ann.send(page, to: path + "/delete").expect(200)
            #expect(ann.history.last == Self.sync + "?done=feedRemoved")
            try await ann.open(path).expect(404)
        }
    }

    @Test("Another's feed is nowhere, for every page and form, and so is one's own in another circle")
    func others() async throws {
        try await TestServer.withPasswords { server in
            let feed = try await server.makeFeed(label: "Ann's own")
            try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
            for user in ["ann", "ben"] {
                let member: JSONValue = ["displayName": .string(user), "role": "owner"]
                try await server.call(.put, "/v1/circles/d/members/\(user)", member).expect(201)
            }
            for (user, circle) in [("ben", "c"), ("ann", "d")] {
                let browser = try await Browser.signedIn(user, server)
                let sync = try await browser.open("/app/circles/\(circle)/calendar-sync").expect(200)
                #expect(!sync.text.contains("Ann&#39;s own"))
                let token = try #require(HTMLForm.all(in: sync.text).first?.token)
                let path = "/app/circles/\(circle)/feeds/\(feed.id)"
                try await browser.open(path).expect(404)
                for form in ["", "/reveal", "/seen", "/regenerate", "/revoke", "/delete"] {
                    let answer = try await browser.post(path + form, [("token", token), ("graceSeconds", "0")])
                    #expect(answer.status == 404, "\(user) \(form) → \(answer.status)")
                }
            }
            let kept = try await server.call(.get, "/v1/feeds/\(feed.id)", as: "ann").expect(200)
            #expect(kept.json["revokedAt"] == .null)
            try await server.raw(.get, feed.path).expect(200)
        }
    }

    @Test("The page shows who reads the feed, what it holds and what is left out")
    func shown() async throws {
        try await TestServer.withPasswords { server in
            try await server.put("tasks", "t1", ["title": "Buy milk", "dueAt": "2026-03-04T09:00:00-08:00"])
            try await server.put(
                "tasks", "t2", ["title": "Done", "dueAt": "2026-03-04T09:00:00Z", "status": "completed"])
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path, headers: [.userAgent: "Google-Calendar-Importer"]).expect(200)
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/circles/c/feeds/\(feed.id)").expect(200)
            for text in ["Google Calendar", "Buy milk", "the task is done", "/app/circles/c/tasks/t1"] {
                #expect(page.text.contains(text), "\(text)")
            }
            #expect(!page.text.contains("Not shown:"))
        }
    }

    @Test("A feed that leaves something out says so where it is looked for: in the list, on its page, at the item")
    func silent() async throws {
        try await TestServer.withPasswords { server in
            try await server.put("tasks", "t1", ["title": "Buy milk", "dueAt": "2026-03-04T09:00:00-08:00"])
            try await server.put(
                "shifts", "s1",
                ["patientId": "dad", "ownerId": "ann", "startDate": "2026-03-04", "endDate": "2026-03-05"])
            let feed = try await server.makeFeed(label: "Phone", config: ["includeShifts": false])
            _ = try await server.makeFeed(user: "ben", label: "Ben's own", config: ["includeShifts": false])
            let ended = try await server.makeFeed(label: "Ended", config: ["includeShifts": false])
            try await server.call(.post, "/v1/feeds/\(ended.id)/revoke", as: "ann").expect(200)
            let ann = try await Browser.signedIn("ann", server)
            let list = try await ann.open(Self.sync).expect(200)
            #expect(list.text.components(separatedBy: "Not shown:").count == 2)
            let page = try await ann.open("/app/circles/c/feeds/\(feed.id)").expect(200)
            #expect(page.text.contains("Not shown: <strong><bdi>Shifts</bdi></strong>"))
            #expect(page.text.contains("<strong>1 entry</strong>: Shifts are switched off in the settings"))
            let shift = try await ann.open("/app/circles/c/shifts/s1").expect(200)
            #expect(shift.text.contains("/app/circles/c/feeds/\(feed.id)#settings"))
            #expect(shift.text.components(separatedBy: "does not show it").count == 2)
            #expect(!shift.text.contains("Ben&#39;s own") && !shift.text.contains("No calendar app has read"))
            let task = try await ann.open("/app/circles/c/tasks/t1").expect(200)
            #expect(!task.text.contains("does not show it") && task.text.contains("No calendar app has read"))
        }
    }

    @Test("Whom a feed is for suggests what it shows and its end, and a look shows it before it is made")
    func sharing() async throws {
        try await TestServer.withPasswords { server in
            try await server.put("tasks", "t1", ["title": "Buy milk", "dueAt": "2026-03-03T09:00:00-08:00"])
            try await server.put(
                "appointments", "a1",
                [
                    "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-04T10:00:00-08:00",
                    "endAt": "2026-03-04T11:00:00-08:00",
                ])
            let ann = try await Browser.signedIn("ann", server)
            let sync = "/app/circles/c/calendar-sync"
            let start = try await ann.open(sync + "?ask=create").expect(200)
            #expect(start.text.contains("Who is it for?") && start.text.contains("for=helper#create"))
            let work = try await ann.open(sync + "?ask=create&for=work").expect(200)
            #expect(work.text.contains("Everybody at work who has the address sees only when time is taken"))
            let form = try #require(HTMLForm.all(in: work.text).first { $0.action == "/app/circles/c/feeds" })
            let typed = form.filled(["label": "Office"])
            #expect(typed.contains { $0.0 == "until" && $0.1 == "2027-03-02" })
            let look = try await ann.post("/app/circles/c/feed-look", typed).expect(200)
            let shown = look.text.components(separatedBy: "id=\"look\"").last?.components(separatedBy: "</section>")
                .first
            #expect(shown?.contains("agenda-entry") == true)
            #expect(shown?.contains("Buy milk") == false && shown?.contains("Dr. Lee") == false)
            // A look makes nothing.
            let none = try await server.call(.get, "/v1/circles/c/feeds", as: "ann").expect(200)
            #expect(none.json["items"]?.array?.isEmpty == true)
            let made = try await ann.send(look, to: "/app/circles/c/feeds").expect(200)
            #expect(made.text.contains("<bdi>Office</bdi>"))
            let feed = try await server.call(.get, "/v1/circles/c/feeds", as: "ann").expect(200).json["items"]?.array?
                .first
            #expect(feed?["config"]?["detail"] == "busy" && feed?["config"]?["includeTasks"] == false)
            // The end of March 2 where Ann is.
            #expect(feed?["expiresAt"]?.string?.hasPrefix("2027-03-03T08:00:00") == true)
        }
    }

    @Test("An end that is no day or is over is said to be wrong at its field, in a look and in making")
    func wrongEnd() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/circles/c/calendar-sync?for=helper").expect(200)
            let form = try #require(HTMLForm.all(in: page.text).first { $0.action == "/app/circles/c/feeds" })
            for until in ["2020-01-01", "2026-02-30"] {
                for path in ["/app/circles/c/feed-look", "/app/circles/c/feeds"] {
                    let answer = try await ann.post(path, form.filled(["until": until])).expect(422)
                    #expect(answer.text.contains("href=\"#feed-until\""), "\(path) \(until)")
                }
            }
        }
    }
}
