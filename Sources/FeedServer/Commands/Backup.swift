// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import KalendsCore
import Server
import Storage

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a complete copy of the database to a new file, even while a server is running.",
        discussion:
            """
            The sealing key is left out on purpose: keep it elsewhere. Without it, feed addresses cannot be shown again, and \
            connections, webhooks, followed calendars and second factors have to be set up again.
            """)

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The new file.") var file: String

    func run() async throws {
        let settings = try await options.settings()
        let path = URL(filePath: file).path
        // A dangling symbolic link also counts as existing: the backup must not be written to its target.
        guard FileKind(path: path, followsLinks: false) == nil else {
            throw InputFailure(description: "\(printable(path)) already exists; a backup goes to a new file.")
        }
        let folder = URL(filePath: file).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder) else {
            throw InputFailure(description: "There is no folder \(printable(folder)) for the backup.")
        }
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        _ = try await LocalClient.with(settings) {
            try await $0.json("POST", "/local/backup", ["path": .string(absolute)])
        }
        Console.line("Wrote \(printable(path)).")
        // A key that is a setting is not in any file of ours.
        let key = settings.secretKey == nil ? "The sealing key \(settings.keyFile)" : "The sealing key"
        Console.line(
            """
            \(key) is not in it: keep the key elsewhere. Without it, feeds keep working, but their addresses cannot be shown \
            again, and connections, webhooks, followed calendars and second factors have to be set up again.
            """)
    }
}
