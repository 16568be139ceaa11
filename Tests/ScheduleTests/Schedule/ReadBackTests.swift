// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What was put can be read")
struct ReadBackTests {
    private static let series: JSONValue = [
        "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-03T09:00:00-08:00", "durationMinutes": 30,
        "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=6"],
    ]

    @Test("Members and patients are read one by one, with the tag that a change asks for")
    func people() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (path, body) in [
                ("/v1/circles/c/members/ben", ["displayName": "Benjamin", "role": "member"] as JSONValue),
                ("/v1/circles/c/patients/mom", ["displayName": "Mother"]),
            ] {
                let read = try await server.call(.get, path, as: "vic").expect(200)
                let tag = try #require(read.headers[.eTag])
                try await server.call(.get, path, headers: [.ifNoneMatch: tag]).expect(304)
                let changed = try await server.call(.put, path, body, headers: [.ifMatch: tag]).expect(200)
                #expect(try await server.call(.get, path).expect(200).json == changed.json)
                try await server.call(.put, path, body, headers: [.ifMatch: tag]).expect(412)
                try await server.call(.get, path, as: "zed").expect(404)
            }
            try await server.call(.delete, "/v1/circles/c/members/vic").expect(204)
            let gone = try await server.call(.get, "/v1/circles/c/members/vic").expect(404)
            #expect(gone.json["code"] == "member-not-found")
            let never = try await server.call(.get, "/v1/circles/c/patients/nobody").expect(404)
            #expect(never.json["code"] == "patient-not-found")
        }
    }

    @Test("A visit and a day are read back, the former where it says that it is")
    func officeDays() async throws {
        try await TestServer.run { server in
            let path = "/v1/users/ann/office-days"
            let visit: JSONValue = ["startAt": "2026-03-02T09:00:00Z", "endAt": "2026-03-02T10:00:00Z"]
            let put = try await server.call(.put, "\(path)/visits/v", visit).expect(201)
            let target = try #require(put.headers[.location])
            #expect(try await server.call(.get, target, as: "ann").expect(200).json == put.json)
            let day = try await server.call(.put, "\(path)/days/2026-03-02", ["status": "remote"]).expect(200)
            #expect(try await server.call(.get, "\(path)/days/2026-03-02", as: "ann").expect(200).json == day.json)
            for part in ["visits/v", "days/2026-03-02"] {
                try await server.call(.get, "\(path)/\(part)", as: "zed").expect(404)
            }
            let missing = try await server.call(.get, "\(path)/visits/w").expect(404)
            #expect(missing.json["code"] == "visit-not-found")
            try await server.call(.get, "\(path)/days/soon").expect(400)
        }
    }

    @Test("What can be put, changed or deleted one by one can be read one by one")
    func everything() async throws {
        try await TestServer.run { server in
            // Nobody reads a password, a session is listed with the others of its user, and the list of users says who has a
            // second factor.
            let unread: Set<ByteString> = [
                "/v1/users/{user}/password", "/v1/users/{user}/second-factor", "/v1/sessions/{id}",
                "/v1/sessions/current",
                "/v1/connections/{id}/account",
                "/v1/connections/{id}/calendar", "/v1/connections/{id}/device",
            ]
            let routes = try Routes.table(server.front, isLocal: false).described
            let read = Set<ByteString>(routes.filter { $0.method == .get }.map { ByteString($0.path) })
            for route in routes where [.put, .patch, .delete].contains(route.method) {
                let path = ByteString(route.path)
                #expect(read.contains(path) || unread.contains(path), "\(route.method) \(route.path)")
            }
        }
    }

    @Test("A changed occurrence is read back, and listed with its appointment")
    func occurrences() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = "/v1/circles/c/appointments/a"
            let made = try await server.call(.put, path, Self.series).expect(201)
            #expect(made.json["occurrences"] == [])
            let one = "\(path)/occurrences/20260310T160000Z"
            let missing = try await server.call(.get, one).expect(404)
            #expect(missing.json["code"] == "occurrence-not-found")
            let moved: JSONValue = ["startAt": "2026-03-10T11:00:00-07:00", "notes": "Later"]
            let put = try await server.call(.put, one, moved).expect(201)
            let read = try await server.call(.get, one, as: "vic").expect(200)
            #expect(read.json == put.json && read.headers[.eTag] == put.headers[.eTag])
            try await server.call(.put, "\(path)/occurrences/20260303T170000Z", ["status": "cancelled"]).expect(201)
            let appointment = try await server.call(.get, path).expect(200)
            let times = appointment.json["occurrences"]?.array ?? []
            #expect(times.map { $0["originalStart"] } == ["2026-03-03T09:00:00-08:00", "2026-03-10T09:00:00-07:00"])
            #expect(times.last?["startAt"] == "2026-03-10T11:00:00-07:00")
            // The appointment has another tag, which is the one that a change asks for.
            #expect(appointment.headers[.eTag] != made.headers[.eTag])
            let old = try #require(made.headers[.eTag])
            try await server.call(.put, path, Self.series, headers: [.ifMatch: old]).expect(412)
            let tag = try #require(appointment.headers[.eTag])
            try await server.call(.put, path, appointment.json, headers: [.ifMatch: tag]).expect(200)
            let all = try await server.call(.get, "\(path)/occurrences?limit=1", as: "vic").expect(200)
            #expect(all.json["items"]?.array?.map { $0["status"] } == ["cancelled"])
            let cursor = try #require(all.json["nextCursor"]?.string)
            let rest = try await server.call(.get, "\(path)/occurrences?limit=1&cursor=\(cursor)").expect(200)
            #expect(rest.json["items"] == [put.json] && rest.json["nextCursor"] == .null)
            let listed = try await server.call(.get, "/v1/circles/c/appointments").expect(200)
            #expect(listed.json["items"]?.array?.first?["occurrences"] == .array(times))
        }
    }
}
