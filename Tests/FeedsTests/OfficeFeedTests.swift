// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logging
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Office days in the person's feeds")
struct OfficeFeedTests {
    private static let path = "/v1/users/ann/office-days"

    @Test("Feeds that include what is the person's own show office days, and no other feed does")
    func shown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let own = try await server.makeFeed(label: "own", config: ["includePersonal": true]).path
            let plain = try await server.makeFeed(label: "plain").path
            let other = try await server.makeFeed(user: "ben", config: ["includePersonal": true]).path
            try await server.raw(.get, own).expect(200)
            let settings: JSONValue = [
                "enabled": true, "deviceTimeZone": "America/New_York", "officeAddress": "1 Main Street",
            ]
            try await server.call(.patch, "\(Self.path)/settings", settings, as: "ann").expect(200)
            let visit: JSONValue = ["startAt": "2026-03-02T08:00:00-05:00", "endAt": "2026-03-02T12:00:00-05:00"]
            try await server.call(.put, "\(Self.path)/visits/a", visit, as: "ann").expect(201)
            let first = try await server.raw(.get, own).expect(200)
            #expect(first.values("SUMMARY") == ["Office Day"] && first.values("LOCATION") == ["1 Main Street"])
            #expect(first.eventValues("DTSTART") == ["20260302T090000"])
            #expect(first.values("TRANSP") == ["TRANSPARENT"])
            #expect(
                first.eventValues("DESCRIPTION")[0].hasPrefix("Status: In Office\\nOffice Hours: 9:00 AM – 5:00 PM\\n"))
            for feed in [plain, other] {
                #expect(try await server.raw(.get, feed).expect(200).values("SUMMARY") == [])
            }
            // A change of hours moves the same event.
            try await server.call(
                .patch, "\(Self.path)/settings", ["officeHours": ["start": "08:00"]], as: "ann"
            ).expect(200)
            let moved = try await server.raw(.get, own).expect(200)
            #expect(moved.values("UID") == first.values("UID"))
            #expect(moved.eventValues("DTSTART") == ["20260302T080000"])
            #expect(moved.headers[.eTag] != first.headers[.eTag])
            // A night is seen at the next poll, too.
            server.clock.advance(seconds: 2 * 86_400)
            try await server.services.officeNights(Logger(label: "test") { _ in server.log }).once()
            #expect(
                try await server.raw(.get, own).expect(200).values("SUMMARY").sorted() == ["Office Day", "Remote Work"])
            try await server.call(.post, "\(Self.path)/cleanup", as: "ann").expect(200)
            #expect(try await server.raw(.get, own).expect(200).values("SUMMARY") == [])
        }
    }

    @Test("Events of another target are in no feed")
    func elsewhere() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let own = try await server.makeFeed(config: ["includePersonal": true]).path
            let settings: JSONValue = ["enabled": true, "target": ["device": true]]
            try await server.call(.patch, "\(Self.path)/settings", settings, as: "ann").expect(200)
            try await server.call(.put, "\(Self.path)/days/2026-03-02", ["status": "inOffice"], as: "ann").expect(200)
            #expect(try await server.raw(.get, own).expect(200).values("SUMMARY") == [])
        }
    }
}
