// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a whole copy of the database to a new file, also while a server runs.",
        discussion:
            "The sealing key is left out on purpose: keep it elsewhere, or feed addresses cannot be shown again.")

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The new file.") var file: String

    func run() async throws {
        let settings = try await options.settings()
        let path = URL(filePath: file).path
        guard !FileManager.default.fileExists(atPath: path) else {
            throw InputFailure(description: "\(path) is there already; a backup goes to a new file.")
        }
        let folder = URL(filePath: file).deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder) else {
            throw InputFailure(description: "There is no folder \(folder) for the backup.")
        }
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        _ = try await LocalClient.with(settings) {
            try await $0.json("POST", "/local/backup", ["path": .string(absolute)])
        }
        Console.line("Wrote \(path).")
        Console.line(
            "The sealing key \(settings.keyFile) is not in it. Without it feeds go on, but their addresses cannot be shown again."
        )
    }
}
