// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Create, list and revoke the keys of host applications.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key and print it; it is shown only this once.")

        @OptionGroup var options: SettingsOptions
        @Option(help: "What the key is for, to distinguish it from others.") var name: String
        @Option(
            name: .customLong("scope"),
            help: ArgumentHelp(
                "A scope of the key, given once or more; without it, the key may do everything. One of "
                    + Scope.allCases.map(\.rawValue).joined(separator: ", ") + "."))
        var scopes: [String] = []
        @Option(
            name: .customLong("circle"),
            help: "A circle that the key is bound to, given once or more; it makes circles only with these ids.")
        var circles: [String] = []
        @Option(help: "The beginning of the ids of the circles that the key is bound to.") var circlePrefix: String?
        @Option(help: "How many requests of the key a server answers within a minute.") var requestsPerMinute: Int?
        @Option(help: "The maximum number of feeds in the circles of the key.") var maxFeeds: Int?
        @Option(help: "The maximum number of circles of the key.") var maxCircles: Int?

        func run() async throws {
            var body: [ByteString: JSONValue] = ["name": .string(name)]
            if !scopes.isEmpty { body["scopes"] = .array(scopes.map(JSONValue.string)) }
            if !circles.isEmpty { body["circles"] = .array(circles.map(JSONValue.string)) }
            if let circlePrefix { body["circlePrefix"] = .string(circlePrefix) }
            let quotas = [
                ("requestsPerMinute", requestsPerMinute), ("feeds", maxFeeds), ("circles", maxCircles),
            ].compactMap { name, number in number.map { (ByteString(name), JSONValue.integer($0)) } }
            if !quotas.isEmpty { body["quotas"] = .object(Dictionary(uniqueKeysWithValues: quotas)) }
            let document = JSONValue.object(body)
            let key = try await options.json(
                "POST", "/v1/keys", document,
                naming: [
                    "/name": "--name", "/scopes": "--scope", "/quotas/requestsPerMinute": "--requests-per-minute",
                    "/quotas/feeds": "--max-feeds", "/quotas/circles": "--max-circles",
                ])
            Console.line(key["key"]?.string ?? "")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys.")

        @OptionGroup var options: SettingsOptions
        @Flag(help: "One line of JSON per key.") var json = false

        func run() async throws {
            let keys = try await options.all("/v1/keys")
            if json { return try Console.lines(keys) }
            if keys.isEmpty { return Console.line("There are no keys. Make one: kalends key create --name NAME") }
            var table = TextTable(["ID", "BEGINS WITH", "MAY DO", "CIRCLES", "AT MOST", "STATE", "NAME"])
            for key in keys {
                let state =
                    if let revoked = key["revokedAt"]?.string {
                        "revoked \(TextTable.time(revoked))"
                    } else {
                        key["lastUsedAt"]?.string.map { "last used \(TextTable.time($0))" } ?? "never used"
                    }
                let scopes = key["scopes"]?.array?.compactMap(\.string).joined(separator: ",") ?? "everything"
                let circles =
                    key["circles"]?.array?.compactMap(\.string).joined(separator: ",")
                    ?? key["circlePrefix"]?.string.map { "\($0)…" } ?? "all"
                let quotas = [("requestsPerMinute", "requests/min"), ("feeds", "feeds"), ("circles", "circles")]
                    .compactMap { name, word in key["quotas"]?[name]?.integer.map { "\($0) \(word)" } }
                table.add([
                    key["id"]?.string ?? "", key["hint"]?.string ?? "", scopes, circles,
                    quotas.isEmpty ? "no limit" : quotas.joined(separator: ", "), state, key["name"]?.string ?? "",
                ])
            }
            for line in table.lines { Console.line(line) }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key: from the next request on, it is refused.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The key's id, from key list.") var id: String

        func run() async throws {
            _ = try await options.json("POST", "/v1/keys/\(pathComponent(id))/revoke")
            Console.line("Key \(id) is revoked.")
        }
    }
}
