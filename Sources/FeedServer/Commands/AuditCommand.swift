// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List the acts of the audit trail, and check that the trail is complete.",
        subcommands: [List.self, Verify.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List everybody's acts, the latest first.")

        @OptionGroup var options: SettingsOptions
        @Option(help: "The circle's id; without it, all acts are listed.") var circle: String?
        @Flag(help: "One line of JSON per act.") var json = false

        func run() async throws {
            let path = "/v1/audit?limit=1000" + (circle.map { "&circle=\(pathComponent($0))" } ?? "")
            let json = json
            // The trail is read page by page, since it never stops growing.
            let count = try await LocalClient.with(try await options.settings()) { client in
                var (count, cursor) = (0, "")
                repeat {
                    let page = try await client.json("GET", path + (cursor.isEmpty ? "" : "&cursor=\(cursor)"))
                    let entries = page["items"]?.array ?? []
                    var table = TextTable(["NUMBER", "AT", "WHO", "DID", "TO WHAT", "IN CIRCLE", "DETAIL"])
                    for entry in entries {
                        if json { Console.line(try entry.text()) } else { table.add(try AuditCommand.cells(entry)) }
                    }
                    // Each page of a thousand has its own headings, with columns as wide as the page needs.
                    if !table.isEmpty { for line in table.lines { Console.line(line) } }
                    count += entries.count
                    cursor = page["nextCursor"]?.string ?? ""
                } while !cursor.isEmpty
                return count
            }
            if count == 0, !json {
                Console.line(circle == nil ? "Nothing has been done yet." : "The trail has no act in this circle.")
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check that no entry was changed, and that none is missing.",
            discussion: """
                The end is printed as NUMBER:HASH. Store it elsewhere and pass it with --head the next time, so that \
                it is also noticed when the end was cut off or the whole trail was rewritten. Exit status: 0 intact, \
                1 tampered with.
                """)

        @OptionGroup var options: SettingsOptions
        @Option(help: "An end of the trail that was printed earlier, NUMBER:HASH.") var head: String?
        @Flag(help: "One line of JSON: count, head and fault.") var json = false

        func validate() throws {
            guard head.map({ AuditHead($0) != nil }) ?? true else {
                throw ValidationError("--head takes what audit verify printed: NUMBER:HASH.")
            }
        }

        func run() async throws {
            let path = "/local/audit/verify" + (head.map { "?head=\($0)" } ?? "")
            let verdict = try await options.json("GET", path)
            if json {
                Console.line(try verdict.text())
                guard verdict["fault"] == .null else { throw ExitCode(1) }
                return
            }
            Console.line("Audit trail: \(AuditCommand.sentence(verdict))")
            guard verdict["fault"] == .null else { throw ExitCode(1) }
            if let end = verdict["head"]?.string { Console.line(end) }
        }
    }

    /// The result of verifying the trail.
    static func sentence(_ verdict: JSONValue) -> String {
        let count = verdict["count"]?.integer ?? 0
        guard let number = verdict["fault"]?["number"]?.integer else {
            let anonymous = verdict["anonymous"]?.integer ?? 0
            return "whole, \(count) \(count == 1 ? "entry" : "entries")"
                + (anonymous > 0 ? ", \(anonymous) of them made anonymous" : "")
        }
        return "entry \(number) is wrong: \(verdict["fault"]?["reason"]?.string ?? "")"
    }

    private static func cells(_ entry: JSONValue) throws -> [String] {
        func text(_ name: String) -> String { entry[name]?.string ?? "" }
        let detail = try entry["detail"].map { $0 == [:] ? "" : try $0.text() } ?? ""
        return [
            "\(entry["number"]?.integer ?? 0)", text("at"), text("actor"), text("action"), text("subject"),
            text("circleId"), detail,
        ]
    }
}
