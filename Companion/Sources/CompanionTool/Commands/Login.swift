// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CompanionFolder
import Foundation
import KalendsCompanion

/// Connects a folder of calendars to a server; nothing connects without this command.
struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect a folder of calendars to a server.",
        discussion: """
            The token is your own: after signing in to the server's pages, you find it at /auth/token. The operator of \
            the server can instead make a key with `kalends key create` and name the user with --user.

            The token is read from --token-file, from the variable KALENDS_COMPANION_TOKEN, or from standard input, so \
            that no list of processes shows it. It registers this machine as a device of the user and is not stored; \
            only the device's own token is stored, in a file that only you can read.
            """)

    @Argument(help: "The server's address, such as https://calendar.example.org.")
    var server: String

    @Option(help: "The folder that contains one folder for each calendar.")
    var folder: String

    @Option(name: .customLong("token-file"), help: "A file with a token of the user; - is standard input.")
    var tokenFile: String?

    @Option(help: "The user for whom a service key acts.")
    var user: String?

    @Option(help: "The name of this machine in the server's list of devices.")
    var label: String?

    @Flag(help: "Keep the token as it is: it is accepted only for planned events (COMPANION_SYNC_TOKEN).")
    var planned = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        let address: ServerAddress
        do { address = try ServerAddress(server) } catch { throw ToolFailure.use("\(error)") }
        let path = URL(filePath: (folder as NSString).expandingTildeInPath).standardizedFileURL.path
        let paths = ToolPaths()
        let kept = try? paths.choices.read()
        var choices = kept?.server == address ? kept ?? nil : nil
        choices = choices ?? Choices(server: address, folder: path)
        choices?.folder = path
        guard var choices else { return }
        let context = try CompanionContext(paths, choices)
        guard await context.connector.permission() == .fullAccess else {
            throw ToolFailure.failed("\(path) is not a folder that can be read and written.")
        }
        do throws(StoreFailure) { _ = try await context.store.calendars() } catch {
            throw ToolFailure.failed("There is no folder \(path): make it, with a folder in it for each calendar.")
        }
        let token = try readToken()
        let stored: StoredToken
        if planned {
            stored = StoredToken(kind: .planned, token: token)
        } else {
            let service = HTTPCompanionService(
                address, credential: .bearer(token, user: user), transport: CompanionContext.transport)
            let device = try await Self.answer(of: address) { [choices] () async throws(CompanionFailure) in
                try await service.register(
                    DeviceRegistration(
                        label: label ?? ProcessInfo.processInfo.hostName, deviceId: choices.deviceID,
                        platform: Self.platform))
            }
            choices.deviceID = device.device.deviceId
            stored = StoredToken(kind: .device, token: device.deviceToken)
        }
        try paths.token.write(stored)
        try paths.choices.write(choices)
        guard try await context.connector.connect().isConnected else {
            throw ToolFailure.failed("\(path) is not a folder that can be read and written.")
        }
        if json {
            try Output.json([
                "server": .string(address.url.absoluteString), "folder": .string(path),
                "deviceId": JSONValue(choices.deviceID),
            ])
        } else {
            Output.line("Connected with \(address.url.absoluteString).")
            Output.line(
                choices.summary.map {
                    "Calendars: \($0). Sync once with `kalends-companion sync`, or continuously with `run`."
                } ?? "Next: choose calendars with `kalends-companion calendars`.")
        }
    }

    /// Returns the server's response; any failure ends the program with a sentence.
    static func answer<Value: Sendable>(
        of server: ServerAddress, _ body: () async throws(CompanionFailure) -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            switch error {
            case .offline:
                throw ToolFailure.failed("\(server.url.absoluteString) cannot be reached: is it right, and running?")
            case .forbidden:
                throw ToolFailure.failed(
                    "The token does not give access to this. A service key needs --user, and the scope events.")
            default: throw ToolFailure.failed("\(error)")
            }
        }
    }

    private func readToken() throws -> String {
        let text: String
        if let tokenFile, tokenFile != "-" {
            guard let data = try? FileHandle(forReadingFrom: URL(filePath: tokenFile)).read(upToCount: 8_192) else {
                throw ToolFailure.use("\(tokenFile) cannot be read.")
            }
            text = String(decoding: data, as: UTF8.self)
        } else if tokenFile == nil, let named = ProcessInfo.processInfo.environment["KALENDS_COMPANION_TOKEN"] {
            text = named
        } else {
            text = TokenInput.line()
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else { throw ToolFailure.use("There is no token.") }
        return token
    }

    #if os(Linux)
    private static let platform = "linux"
    #else
    private static let platform = "macos"
    #endif
}
