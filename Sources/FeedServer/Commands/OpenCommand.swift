// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Print a link that opens the pages in a browser, signed in; it works once.",
        discussion: "Without --user, the link is for the only owner.")

    @OptionGroup var options: SettingsOptions
    @Option(help: "The id of the user to sign in.") var user: String?
    @Option(help: "The id of the circle to open.") var circle: String?
    @Flag(help: "Open the operator's pages instead.") var admin = false

    func validate() throws {
        if admin, user != nil || circle != nil {
            throw ValidationError("--admin takes neither --user nor --circle: the operator's pages belong to nobody.")
        }
    }

    func run() async throws {
        let settings = try await options.settings()
        let (admin, user, circle) = (admin, user, circle)
        let (link, isServed) = try await LocalClient.with(settings) { client in
            let status = try await client.json("GET", "/local/status")
            let link =
                admin
                ? try await client.json("POST", "/local/sign-in-links")
                : try await Self.link(client, for: user, circle, seconds: SignInLinks.usualLifetime)
            return (link, status["isServer"] == true)
        }
        Console.line(link["url"]?.string ?? "")
        if !isServed {
            Console.error("No server runs on \(settings.database). The link works once one does: kalends serve")
        }
    }

    /// A link for a user that leads to one circle, or to the list of circles.
    static func link(
        _ client: LocalClient, for user: String?, _ circle: String?, seconds: Int
    ) async throws -> JSONValue {
        if let circle, let user {
            _ = try await client.json("GET", "/v1/circles/\(pathComponent(circle))/members/\(pathComponent(user))")
        }
        let user =
            if let user { user } else { try await owner(client, of: circle) }
        var body: [ByteString: JSONValue] = ["expiresInSeconds": .integer(seconds)]
        if let circle { body["to"] = .string("/app/circles/\(pathComponent(circle))") }
        return try await client.json("POST", "/v1/users/\(pathComponent(user))/sign-in-links", .object(body))
    }

    /// The only owner of a circle, or of all circles.
    private static func owner(_ client: LocalClient, of circle: String?) async throws -> String {
        let circles =
            if let circle { [circle] } else { try await client.all("/v1/circles").compactMap { $0["id"]?.string } }
        var owners: Set<ByteString> = []
        for circle in circles {
            for member in try await client.all("/v1/circles/\(pathComponent(circle))/members")
            where member["role"] == "owner" {
                if let user = member["id"]?.string { owners.insert(ByteString(user)) }
            }
        }
        if let only = owners.first, owners.count == 1 { return only.string }
        let names = owners.sorted().prefix(10).map { printable($0.string) }.joined(separator: ", ")
        throw LocalClient.Failure(
            description: owners.isEmpty
                ? "No circle has an owner yet. Name the user: kalends open --user USER"
                : "There is more than one owner: \(names). Name the user: kalends open --user USER")
    }
}
