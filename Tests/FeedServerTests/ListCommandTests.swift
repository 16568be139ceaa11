// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Lists on the command line")
struct ListCommandTests {
    @Test("Every list has headings above columns in line, and JSON a line an element")
    func headings() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        for number in 1...2 {
            #expect(try await server.kalends(["key", "create", "--name", "app \(number)"]).status == 0)
            let input = "a long password\n"
            #expect(try await server.kalends(["user", "set-password", "user\(number)"], input: input).status == 0)
        }
        for (command, headings, name) in [
            (["feed", "list"], ["ID", "CIRCLE", "USER", "LABEL", "TOKEN", "STATE", "READ", "LAST READ"], "id"),
            (["key", "list"], ["ID", "BEGINS WITH", "MAY DO", "CIRCLES", "AT MOST", "STATE", "NAME"], "id"),
            (["user", "list"], ["USER", "PASSWORD SET", "SESSIONS", "DEVICES"], "id"),
            (["audit", "list"], ["NUMBER", "AT", "WHO", "DID", "TO WHAT", "IN CIRCLE", "DETAIL"], "number"),
            (["settings"], ["SETTING", "VALUE", "FROM", "VARIABLE", "FLAG"], "name"),
        ] {
            let lines = try await server.kalends(command).output.split(separator: "\n").map(String.init)
            let first = try #require(lines.first)
            var index = first.startIndex
            for heading in headings {
                let found = try #require(
                    first.range(of: heading, range: index..<first.endIndex), "\(command) \(heading)")
                index = found.upperBound
                // Each column begins where its heading does: what is before it is room.
                let column = first.distance(from: first.startIndex, to: found.lowerBound)
                guard column > 0 else { continue }
                for line in lines.dropFirst() where !line.hasPrefix("    ") && line.count > column {
                    #expect(Array(line)[column - 2..<column] == [" ", " "], "\(command) \(heading): \(line)")
                }
            }
            let objects = try await server.kalends(command + ["--json"]).output.split(separator: "\n")
            #expect(objects.count > 1)
            for object in objects { #expect(try JSONValue(parsing: Array(object.utf8))[name] != nil) }
        }
        let verdict = try await server.kalends(["audit", "verify", "--json"])
        #expect(try JSONValue(parsing: Array(verdict.output.utf8))["fault"] == .null)
        let doctor = try await server.kalends(["doctor", "--json"])
        #expect(doctor.status == 0)
        for line in doctor.output.split(separator: "\n") {
            #expect(try JSONValue(parsing: Array(line.utf8))["ok"] == true, "\(line)")
        }
        #expect(await server.stop() == 0)
    }
}
