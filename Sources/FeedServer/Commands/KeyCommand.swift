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

        func run() async throws {
            var body: [ByteString: JSONValue] = ["name": .string(name)]
            if !scopes.isEmpty { body["scopes"] = .array(scopes.map(JSONValue.string)) }
            let document = JSONValue.object(body)
            let key = try await options.json(
                "POST", "/v1/keys", document, naming: ["/name": "--name", "/scopes": "--scope"])
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
            var table = TextTable(["ID", "BEGINS WITH", "MAY DO", "STATE", "NAME"])
            for key in keys {
                let state =
                    if let revoked = key["revokedAt"]?.string {
                        "revoked \(TextTable.time(revoked))"
                    } else {
                        key["lastUsedAt"]?.string.map { "last used \(TextTable.time($0))" } ?? "never used"
                    }
                let scopes = key["scopes"]?.array?.compactMap(\.string).joined(separator: ",") ?? "everything"
                table.add([
                    key["id"]?.string ?? "", key["hint"]?.string ?? "", scopes, state, key["name"]?.string ?? "",
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
