// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import Pages
import Storage
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Pages by hand: links, devices, account, subscriptions, office days")
struct PageJobTests {
    private static func link(_ server: TestServer, _ body: JSONValue = [:]) async throws -> String {
        let made = try await server.call(.post, "/v1/users/ann/sign-in-links", body).expect(201)
        return String(try #require(made.json["url"]?.string).dropFirst("http://calendar.example".count))
    }

    @Test("A link's page has one button; scanners that open it use nothing up, and the button works once")
    func links() async throws {
        try await TestServer.withPasswords { server in
            let path = try await Self.link(server, ["to": "/app/account?x=1"])
            for _ in 0..<3 {
                let seen = try await Browser(server).open(path).expect(200)
                #expect(seen.headers[.cacheControl] == "no-store" && seen.text.contains("<strong"))
                #expect(HTMLForm.all(in: seen.text).map(\.action) == [path])
            }
            let browser = Browser(server)
            let page = try await browser.open(path)
            // Without the page's own token, or from elsewhere, nothing is used up.
            try await Browser(server).post(path, []).expect(403)
            try await browser.send(page, to: path, headers: HTTPFields(named: ["Sec-Fetch-Site": "cross-site"]))
                .expect(403)
            let inside = try await browser.send(page, to: path).expect(200)
            #expect(browser.hasSession && browser.history.last == "/app/account?x=1")
            #expect(inside.text.contains("<h1"))
            let again = try await Browser(server).open(path).expect(410)
            #expect(again.text.contains("used") && HTMLForm.all(in: again.text).isEmpty)
            let other = Browser(server)
            let late = try await Self.link(server, ["expiresInSeconds": 10])
            let lateForm = try await other.open(late)
            server.clock.advance(seconds: 10)
            try await other.send(lateForm, to: late).expect(410)
            #expect(!other.hasSession)
            try await other.open("/app/sign-in/links/nothing").expect(404)
            try await other.open("/app/sign-in/links/\(Secret.make(.signInLink).reveal())").expect(404)
        }
    }

    @Test("Of several browsers that press a link's button at once, one is signed in")
    func parallel() async throws {
        try await TestServer.withPasswords { server in
            let path = try await Self.link(server)
            let signedIn = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let browser = Browser(server)
                        let page = try await browser.open(path)
                        guard page.status == 200 else { return false }
                        _ = try await browser.send(page, to: path, follows: false)
                        return browser.hasSession
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(signedIn == 1)
        }
    }

    @Test("A link that was used before a kill stays used")
    func killed() async throws {
        let server = try await RunningServer(["--demo"])
        let made = try await server.kalends(["open", "--user", "maria-rivera"])
        let path = try #require(URL(string: made.output.trimmingCharacters(in: .whitespacesAndNewlines))?.path)
        let jar = server.folder.appending(path: "jar").path
        func curl(_ server: RunningServer, _ arguments: [String]) async throws -> String {
            try await runProgram(
                "/usr/bin/curl",
                ["-s", "-m", "300", "-b", jar, "-c", jar] + arguments + ["http://127.0.0.1:\(server.port)\(path)"]
            ).output
        }
        let page = try await curl(server, [])
        let token = try #require(HTMLForm.all(in: page).first?.token)
        let status = try await curl(
            server,
            ["-o", "/dev/null", "-w", "%{http_code}", "-H", "Sec-Fetch-Site: same-origin", "-d", "token=\(token)"])
        #expect(status == "303")
        await server.kill()
        let again = try await RunningServer(folder: server.folder)
        defer { again.remove() }
        #expect(try await curl(again, ["-o", "/dev/null", "-w", "%{http_code}"]) == "410")
        #expect(await again.stop() == 0)
    }

    @Test("Devices and other browsers are listed and taken away; another user's cannot be")
    func devices() async throws {
        try await TestServer.withPasswords { server in
            let (ann, other) = (
                try await Browser.signedIn("ann", server), try await Browser.signedIn("ann", server)
            )
            let ben = try await Browser.signedIn("ben", server)
            let body: JSONValue = ["deviceId": "phone", "label": "Ann's <phone>"]
            let made = try await server.call(.post, "/sync/devices/register", body, as: "ann")
            let id = try #require(made.json["device"]?["id"]?.string)
            let page = try await ann.open("/app/devices").expect(200)
            #expect(page.text.contains("Ann&#39;s &lt;phone&gt;") && !page.text.contains("<phone>"))
            let ends = HTMLForm.all(in: page.text).map(\.action).filter { $0.hasPrefix("/app/sessions/") }
            #expect(ends.count == 1)
            let token = try #require(HTMLForm.all(in: try await ben.open("/app/devices").text).first?.token)
            for path in ["/app/devices/\(id)/delete", ends[0]] {
                try await ben.post(path, [("token", token)]).expect(404)
            }
            try await ann.send(page, to: "/app/devices/\(id)/delete").expect(200)
            #expect(try await !ann.open("/app/devices").text.contains("phone&gt;"))
            try await ann.send(page, to: ends[0]).expect(200)
            try await other.open("/app/devices", follows: false).expect(303)
            try await ann.open("/app/devices").expect(200)
        }
    }

    @Test("Zone and language are kept with the user; what is wrong is said at the field and nothing is lost")
    func account() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/account").expect(200)
            let wrong = try await ann.send(
                page, to: "/app/account", ["timeZone": "Mars/<Olympus>", "language": "de"]
            ).expect(422)
            #expect(wrong.text.contains("Mars/&lt;Olympus&gt;") && wrong.text.contains("aria-invalid=\"true\""))
            let saved = try await ann.send(
                wrong, to: "/app/account", ["timeZone": "Europe/Vienna", "language": "de"]
            ).expect(200)
            #expect(saved.text.contains("lang=\"de\"") && saved.text.contains("Europe/Vienna"))
            // Another browser of the same person speaks German too.
            let other = try await Browser.signedIn("ann", server).open("/app/account")
            #expect(other.text.contains("lang=\"de\""))
            let profile = try await server.call(.get, "/v1/users/ann").expect(200)
            #expect(profile.json["timeZone"] == "Europe/Vienna")
            try await ann.send(saved, to: "/app/account", ["timeZone": "", "language": ""]).expect(200)
            #expect(try await ann.open("/app/account").text.contains("lang=\"en\""))
        }
    }

    @Test("A password is changed with the present one, and ends the other sessions; none is ever in a page")
    func password() async throws {
        try await TestServer.withPasswords { server in
            let (ann, other) = (
                try await Browser.signedIn("ann", server), try await Browser.signedIn("ann", server)
            )
            let page = try await ann.open("/app/account").expect(200)
            for (current, new) in [("not my password", "a meadow, 9 wasps"), ("ann's password", "short")] {
                let answer = try await ann.send(
                    page, to: "/app/account/password", ["current": current, "new": new]
                ).expect(422)
                #expect(!answer.text.contains(current) && !answer.text.contains(new.replacing(" ", with: "+")))
                #expect(!answer.text.contains("a meadow") && answer.text.contains("aria-invalid=\"true\""))
            }
            try await ann.send(
                page, to: "/app/account/password", ["current": "ann's password", "new": "a meadow, 9 wasps"]
            ).expect(200)
            try await ann.open("/app/account").expect(200)
            try await other.open("/app/account", follows: false).expect(303)
            try await server.signIn("ann").expect(401)
            try await server.signIn("ann", "a meadow, 9 wasps").expect(201)
        }
    }

    @Test("A circle follows a calendar from its page, pauses it and lets it go; a viewer cannot")
    func subscriptions() async throws {
        try await TestServer.withPasswords { server in
            let (ann, path) = (try await Browser.signedIn("ann", server), "/app/circles/c/subscriptions")
            let page = try await ann.open(path).expect(200)
            let wrong = try await ann.send(page, to: path, ["url": "http://127.0.0.1/x.ics", "label": "Club"])
                .expect(422)
            #expect(wrong.text.contains("value=\"Club\"") && wrong.text.contains("aria-invalid=\"true\""))
            try await ann.send(page, to: path, ["url": "", "label": ""]).expect(422)
            let made = try await ann.send(
                wrong, to: path, ["url": "https://calendar.example/secret-path.ics", "label": "Club <b>"]
            ).expect(200)
            #expect(made.text.contains("Club &lt;b&gt;") && !made.text.contains("secret-path"))
            let actions = HTMLForm.all(in: made.text).map(\.action)
            let pause = try #require(actions.first { $0.hasSuffix("/pause") })
            let paused = try await ann.send(made, to: pause).expect(200)
            let resume = pause.replacing("/pause", with: "/resume")
            #expect(HTMLForm.all(in: paused.text).contains { $0.action == resume })
            try await ann.send(made, to: pause.replacing("/pause", with: "/refresh")).expect(409)
            let again = try await ann.send(paused, to: path, ["url": "https://calendar.example/secret-path.ics"])
                .expect(422)
            #expect(again.text.contains("aria-invalid=\"true\""))
            _ = try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Ben", "role": "viewer"])
            let ben = try await Browser.signedIn("ben", server)
            let seen = try await ben.open(path).expect(200)
            try await ben.send(seen, to: path, ["url": "https://other.example/x.ics"]).expect(403)
            try await ann.send(paused, to: pause.replacing("/pause", with: "/delete")).expect(200)
            #expect(try await !ann.open(path).text.contains("Club &lt;b&gt;"))
            try await ann.open("/app/circles/nowhere/subscriptions").expect(404)
        }
    }

    @Test(
        "Office days: settings are saved or said to be wrong, a person's word for a day stays, and a reset can be undone"
    )
    func officeDays() async throws {
        try await TestServer.withPasswords { server in
            let (ann, path) = (try await Browser.signedIn("ann", server), "/app/office-days")
            let page = try await ann.open(path).expect(200)
            #expect(page.text.contains("Three steps to your office days") && !page.text.contains("March 2026"))
            // Each group of settings is a form that is saved by itself, and keeps what was typed if it is wrong.
            let forms = HTMLForm.all(in: page.text).filter { $0.action == path }
            #expect(forms.count == OfficeDaysPage.Part.allCases.count)
            func send(_ part: OfficeDaysPage.Part, _ typed: [String: String?]) async throws -> Answer {
                let form = forms.first { $0.fields.contains { $0 == ("part", part.rawValue) } }
                return try await ann.post(path, try #require(form).filled(typed))
            }
            let wrong = try await send(.days, ["holidays": "2026-02-30", "monthlyGoal": "7"]).expect(422)
            #expect(wrong.text.contains("2026-02-30") && wrong.text.contains("href=\"#office-days-holidays\""))
            #expect(wrong.text.components(separatedBy: "aria-invalid=\"true\"").count == 2)
            let order = try await send(.events, ["officeTitle": "", "start": "17:00", "end": "09:00"]).expect(422)
            #expect(order.text.contains("href=\"#office-events-officeTitle\"") && !order.text.contains("2026-02-30"))
            try await send(.calendar, ["enabled": "true", "target": "feed"]).expect(200)
            try await send(.events, ["officeTitle": "In the <office>", "createRemoteEvents": nil]).expect(200)
            let saved = try await send(
                .days,
                ["monthlyGoal": "12", "trackedDays": "mon,tue", "holidays": "2026-12-25\n2026-12-26"]
            ).expect(200)
            #expect(saved.text.contains("In the &lt;office&gt;") && saved.text.contains("March 2026"))
            #expect(!saved.text.contains("Three steps to your office days"))
            let settings = try await server.call(.get, "/v1/users/ann/office-days/settings").expect(200).json
            #expect(settings["enabled"] == true && settings["officeTitle"] == "In the <office>")
            #expect(settings["monthlyGoal"] == 12 && settings["trackedDays"] == ["mon", "tue"])
            #expect(settings["holidays"] == ["2026-12-25", "2026-12-26"] && settings["createRemoteEvents"] == false)
            let day = try await ann.open("\(path)?month=2026-03-01&day=2026-03-03").expect(200)
            try await ann.send(day, to: "\(path)/days/2026-03-03", ["status": "inOffice"]).expect(200)
            let said = try await server.call(.get, "/v1/users/ann/office-days/days/2026-03-03").expect(200)
            #expect(said.json["status"] == "inOffice" && said.json["source"] == "person")
            try await ann.send(day, to: "\(path)/days/2026-03-03", ["status": ""]).expect(200)
            let back = try await server.call(.get, "/v1/users/ann/office-days/days/2026-03-03").expect(200)
            #expect(back.json["source"] != "person")
            for query in ["?month=0001-01-01", "?month=x&day=9999-99-99", "?month=9999-12-31"] {
                try await ann.open(path + query).expect(200)
            }
            let before = try await server.call(.get, "/v1/users/ann/office-days/settings").expect(200)
            let reset = try await ann.send(saved, to: "\(path)/reset").expect(200)
            let defaults = try await server.call(.get, "/v1/users/ann/office-days/settings").expect(200)
            #expect(defaults.json["enabled"] == true && defaults.json["officeTitle"] == "Office Day")
            #expect(defaults.json["trackedDays"] == ["mon", "tue", "wed", "thu", "fri"])
            // The first form is that of the notice, which brings everything back.
            try await ann.send(reset, to: path).expect(200)
            let undone = try await server.call(.get, "/v1/users/ann/office-days/settings").expect(200)
            #expect(undone.json == before.json)
        }
    }
}
