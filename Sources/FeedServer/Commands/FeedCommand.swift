// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge
import KalendsCore
import Server

struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "Create, list, reveal, acknowledge, regenerate and revoke feeds.",
        subcommands: [Create.self, List.self, Reveal.self, Acknowledge.self, Regenerate.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a feed and print its address.")

        @OptionGroup var options: SettingsOptions
        @Option(help: "The circle's id.") var circle: String
        @Option(help: "The id of the member whose feed it is.") var user: String
        @Option(help: "A name, to distinguish several feeds of a user.") var label: String?
        @Option(name: .customLong("configuration"), help: #"What it shows, as JSON: {"includeTasks": false}"#)
        var feedConfiguration: String?
        @Flag(help: "The whole answer as JSON.") var json = false

        /// What `--configuration` says; nil without it.
        private func config() throws -> JSONValue? {
            guard let feedConfiguration else { return nil }
            do throws(JSONFault) {
                return try JSONValue(parsing: Array(feedConfiguration.utf8))
            } catch {
                throw ValidationError("--configuration is not a JSON object. \(error.message)")
            }
        }

        // Here and not in `run`, whose errors show the usage of `kalends` and not of this command.
        func validate() throws { _ = try config() }

        func run() async throws {
            var body: [ByteString: JSONValue] = ["userId": .string(user)]
            if let label { body["label"] = .string(label) }
            if let config = try config() { body["config"] = config }
            let (path, document) = ("/v1/circles/\(pathComponent(circle))/feeds", JSONValue.object(body))
            let feed = try await options.json(
                "POST", path, document,
                naming: ["/userId": "--user", "/label": "--label", "/config": "--configuration"])
            try FeedCommand.show(feed, json)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a circle's feeds, and who reads them.")

        @OptionGroup var options: SettingsOptions
        @Option(help: "The circle's id; without it, all circles.") var circle: String?
        @Flag(help: "One line of JSON per feed.") var json = false

        func run() async throws {
            let feeds = try await options.all("feeds", ofCircle: circle)
            if json { return try Console.lines(feeds) }
            if feeds.isEmpty {
                return Console.line("There are no feeds. Make one: kalends feed create --circle ID --user ID")
            }
            for line in FeedLines(feeds, now: Instant(milliseconds: systemClock())).lines { Console.line(line) }
            if feeds.contains(where: { !($0["attention"]?.array ?? []).isEmpty }) {
                Console.line("Once you have looked into it: kalends feed acknowledge ID")
            }
        }
    }

    struct Reveal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print a feed's address again; this is recorded.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The feed's id, from feed list.") var id: String
        @Flag(help: "The whole answer as JSON.") var json = false

        func run() async throws {
            let path = "/v1/feeds/\(pathComponent(id))/reveal"
            let feed = try await options.json("POST", path)
            try FeedCommand.show(feed, json)
        }
    }

    struct Acknowledge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Clear a feed's attention marks once you have looked into them.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The feed's id, from feed list.") var id: String

        func run() async throws {
            let path = "/v1/feeds/\(pathComponent(id))"
            _ = try await options.json("PATCH", path, ["attention": []])
            Console.line("Feed \(id) no longer needs attention.")
        }
    }

    struct Regenerate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a feed a new address; the old one stops working.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The feed's id, from feed list.") var id: String
        @Option(name: .customLong("grace-seconds"), help: "How many seconds the old address keeps working.")
        var graceSeconds = 0
        @Flag(help: "The whole answer as JSON.") var json = false

        func run() async throws {
            let (path, body) = (
                "/v1/feeds/\(pathComponent(id))/regenerate", JSONValue.object(["graceSeconds": .integer(graceSeconds)])
            )
            let feed = try await options.json("POST", path, body, naming: ["/graceSeconds": "--grace-seconds"])
            try FeedCommand.show(feed, json)
            if !json {
                let until = feed["formerUntil"]?.string
                Console.line(
                    until.map { "The old address is answered until \(TextTable.time($0)), and with 410 from then on." }
                        ?? "The old address answers 410 from now on.")
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a feed for good: from the next request on, its address answers 410.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The feed's id, from feed list.") var id: String

        func run() async throws {
            let path = "/v1/feeds/\(pathComponent(id))/revoke"
            _ = try await options.json("POST", path)
            Console.line("Feed \(id) is revoked. What calendar apps have fetched stays with them.")
        }
    }

    /// Shows the address, and where to paste it.
    private static func show(_ feed: JSONValue, _ json: Bool) throws {
        if json {
            Console.line(try feed.text())
            return
        }
        Console.line("Address:   \(feed["url"]?.string ?? "")")
        Console.line("As webcal: \(feed["webcalUrl"]?.string ?? "")")
        Console.line(
            "Whoever has this address can read the feed. Paste it into a calendar app's “subscribe” and nowhere else.")
    }
}
