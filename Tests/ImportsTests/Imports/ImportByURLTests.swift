// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Imports by address")
struct ImportByURLTests {
    @Test("A calendar is fetched, looked at and committed as a file is, and its address kept nowhere")
    func whole() async throws {
        try await CalendarHost.run { host, server in
            host.serve(["u1": "Gym", "u2": "Choir"])
            let body: JSONValue = ["url": .string(host.url)]
            let preview = try await server.call(.post, "/v1/circles/c/imports", body, as: "ann").expect(201)
            #expect(preview.json["state"] == "previewed" && preview.json["counts"]?["created"] == 2)
            let commit = try await server.call(.post, "/v1/circles/c/imports?mode=commit", body, as: "ann").expect(201)
            #expect(commit.json["state"] == "committed" && commit.json["counts"]?["created"] == 2)
            let again = try await server.call(.post, "/v1/circles/c/imports?mode=commit", body, as: "ann").expect(201)
            #expect(again.json["counts"]?["unchanged"] == 2)
            let feed = try await server.makeFeed()
            #expect(try await server.raw(.get, feed.path).values("SUMMARY").sorted() == ["Choir", "Gym"])
            try await server.call(.post, "/v1/circles/c/imports", body, as: "vic").expect(403)
            try await server.call(.post, "/v1/circles/c/imports", body, as: "stranger").expect(404)
            #expect(host.requests.count == 3)
            try await expectNoTrace(of: "5ecret", in: server)
        }
    }

    @Test("A failed fetch is reported with the pointer /url, and a text that is not a calendar as for a file")
    func refusals() async throws {
        try await CalendarHost.run { host, server in
            var texts = ""
            func post(_ body: JSONValue) async throws -> Answer {
                let answer = try await server.call(.post, "/v1/circles/c/imports?mode=commit", body)
                texts += answer.text
                return answer
            }
            for url in [
                "https://127.0.0.9/5ecret", "https://inner.example/5ecret", "https://2130706433/5ecret",
                "ftp://cal.example/5ecret", "5ecret", "https://a:5ecret@cal.example/",
            ] {
                #expect(try await post(["url": .string(url)]).expect(422).pointers == ["/url"])
            }
            #expect(try await post([:]).expect(422).pointers == ["/url"])
            #expect(try await post(["url": 1, "more": 1]).expect(422).pointers.sorted() == ["/more", "/url"])
            #expect(host.requests.isEmpty)
            host.serve(CalendarHost.Content(status: 404))
            #expect(try await post(["url": .string(host.url)]).expect(422).pointers == ["/url"])
            host.serve(CalendarHost.Content(body: "<html><title>5ecret</title></html>"))
            try await post(["url": .string(host.url)]).expect(422)
            #expect(!texts.contains("private-"))
            #expect(!texts.replacing("<title>5ecret", with: "").contains("5ecret"))
            try await expectNoTrace(of: "private-5ecret", in: server)
        }
    }

    @Test("A calendar in JSON is still a file, whatever its type is called")
    func jCal() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let file =
                #"["vcalendar",[["version",{},"text","2.0"],["prodid",{},"text","x"]],[["vevent",[["uid",{},"text","u"],"#
                + #"["dtstamp",{},"date-time","2026-01-01T00:00:00Z"],["dtstart",{},"date-time","2026-03-10T09:00:00Z"],"#
                + #"["summary",{},"text","Gym"]],[]]]]"#
            let answer = try await server.raw(
                .post, "/v1/circles/c/imports",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/json"],
                body: ByteBuffer(string: file)
            ).expect(201)
            #expect(answer.json["counts"]?["created"] == 1)
        }
    }
}

/// Checks that a text is in no file of a server and not in its log.
func expectNoTrace(
    of text: String, in server: TestServer, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    for file in try FileManager.default.contentsOfDirectory(at: server.folder, includingPropertiesForKeys: nil) {
        let data = (try? Data(contentsOf: file)) ?? Data()
        #expect(!data.holds(Data(text.utf8)), "\(file.lastPathComponent)", sourceLocation: sourceLocation)
    }
    #expect(!server.log.text.contains(text), sourceLocation: sourceLocation)
}
