// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct Welcome: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what to do next with a running server: the demo's feed, a key, some commands.")

    @OptionGroup var options: SettingsOptions
    @Option(help: "How many seconds to wait for the server.") var wait = 0

    func run() async throws {
        let settings = try await options.settings()
        try await waitForServer(settings)
        let (feed, links, key, page, circle, publicURL) = try await LocalClient.with(settings) { client in
            // The server's own status: it may have been started with a port that this command does not know.
            let status = try await client.json("GET", "/local/status")
            guard status["isServer"] == true else {
                throw LocalClient.Failure(
                    description: "No server runs on \(settings.database). Start one: kalends serve --demo")
            }
            let publicURL = status["publicURL"]?.string
            let circles = try await client.all("/v1/circles")
            var feed: JSONValue = .null
            for circle in circles.compactMap({ $0["id"]?.string }) where feed == .null {
                let feeds = try await client.all("/v1/circles/\(pathComponent(circle))/feeds")
                feed = feeds.first { $0["revokedAt"] == .null } ?? .null
            }
            var links: JSONValue = .null
            if let id = feed["id"]?.string {
                links = try await client.json("POST", "/v1/feeds/\(pathComponent(id))/reveal")
            }
            var key: JSONValue = .null
            if try await client.all("/v1/keys").isEmpty {
                key = try await client.json("POST", "/v1/keys", ["name": "first run"])
            }
            var page: Page?
            if let circle = feed["circleId"]?.string {
                let members = try await client.all("/v1/circles/\(pathComponent(circle))/members")
                let owner = members.first { $0["role"] == "owner" }?["id"]?.string
                if let user = owner ?? feed["userId"]?.string {
                    let made = try await OpenCommand.link(client, for: user, circle, seconds: Self.linkLifetime)
                    page = made["url"]?.string.map { Page(user: user, url: $0) }
                }
            }
            let circle = feed["circleId"]?.string ?? circles.first?["id"]?.string
            return (feed, links, key, page, circle, publicURL ?? settings.publicURL)
        }
        let lines = Self.text(settings, publicURL, feed: feed, links: links, key: key, page: page, circle: circle)
        for line in lines { Console.line(line) }
    }

    /// In seconds: the reader of the text may not open the link at once.
    private static let linkLifetime = 3600

    /// A link that opens the circle's page.
    private struct Page: Sendable {
        /// The user whom the link signs in: the circle's owner, who may do everything.
        var user: String
        var url: String
    }

    /// Waits until a server has the database and answers.
    private func waitForServer(_ settings: ServerSettings) async throws {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(wait)
        while clock.now < deadline {
            if (try? await LocalClient.isServing(settings)) == true { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        if wait > 0 { throw LocalClient.Failure(description: "No server answers on \(settings.socketFile).") }
    }

    private static func text(
        _ settings: ServerSettings, _ publicURL: String, feed: JSONValue, links: JSONValue, key: JSONValue,
        page: Page?, circle: String?
    ) -> [String] {
        let database = settings.database == ServerSettings().database ? "" : " --database \(settings.database)"
        // The name by which the program was called, since it may not be in the search path.
        let program = CommandLine.arguments.first ?? "kalends"
        var lines = ["", "Kalends is running at \(publicURL)", ""]
        if let page {
            lines += [
                "Open it in a browser, signed in as \(page.user) (works once, within the hour):",
                "  \(page.url)", "Another one: \(program) open\(database)", "",
            ]
        }
        if let url = links["url"]?.string, let webcal = links["webcalUrl"]?.string {
            lines += [
                "The feed of \(feed["userId"]?.string ?? "") in \(feed["circleId"]?.string ?? ""):", "  \(url)",
                "  \(webcal)",
                "Paste it into a calendar app: Apple Calendar, File > New Calendar Subscription; Thunderbird, New Calendar",
                "> On the Network. Whoever has this address can read the feed.", "",
            ]
        }
        let example: String
        if let secret = key["key"]?.string {
            lines += ["A key for your host application, shown this once:", "  \(secret)", ""]
            example = secret
        } else {
            lines += [
                "To make a key for a host application: KEY=$(\(program) key create --name NAME\(database))",
                "",
            ]
            example = "$KEY"
        }
        guard let circle else {
            return lines + [
                "There is no circle. To make one, in another terminal:",
                "  curl -X PUT -H \"Authorization: Bearer \(example)\" -H 'Content-Type: application/json' \\",
                "    \(publicURL)/v1/circles/rossi -d '{\"name\": \"Rossi family\", \"timeZone\": \"Europe/Rome\"}'",
                "",
            ]
        }
        lines += [
            "Three things to try, in another terminal:",
            "  curl -H \"Authorization: Bearer \(example)\" \(publicURL)/v1/circles/\(circle)/tasks",
            "  \(program) export --circle \(circle)\(database) > \(circle).ics",
            "  \(program) feed list\(database)", "",
        ]
        return lines
    }
}
