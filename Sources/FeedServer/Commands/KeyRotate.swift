// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct KeyRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key-rotate",
        abstract: "Replace the sealing key with a new one, even while a server is running.",
        discussion: """
            All sealed data is sealed again with the new key, a few rows at a time, without blocking: until the end \
            both keys open it. If a rotation is interrupted, it continues when this command is run again. The \
            former key is kept as <key>.former, since earlier backups need it.
            """)

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let settings = try await options.settings()
        let answer = try await LocalClient.with(settings) { try await $0.json("POST", "/local/key-rotate") }
        Console.line("\(answer["resealed"]?.integer ?? 0) texts are sealed with the new key \(settings.keyFile).")
        Console.line(
            "The former key is \(settings.keyFile).former: keep it with the earlier backups, then remove it here.")
        guard let lost = answer["lost"]?.integer, lost > 0 else { return }
        Console.error(
            """
            \(lost) texts were sealed with neither key, and stay as they are: \(settings.keyFile) was not the key of all \
            of this database. Once you have that key: kalends reseal --former-key-file FILE
            """)
        throw ExitCode(1)
    }
}
