// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FeedTokens
import Glibc
import KalendsCore
import Server
import Storage

struct Reseal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Seal everything with a different key; no server may be running on the database.",
        discussion: """
            Feed addresses, webhooks, subscriptions and the credentials of people's accounts are opened with the \
            former key and sealed with the key in the settings, all or nothing. Data that neither key opens stays \
            as it is.
            """)

    @OptionGroup var options: SettingsOptions
    @Option(help: ArgumentHelp("The file with the former key.", valueName: "file")) var formerKeyFile: String

    func run() async throws {
        let settings = try await options.settings()
        _ = umask(0o077)
        let former = try SealingKey(file: formerKeyFile, creates: false)
        let present =
            if let text = settings.secretKey {
                try SealingKey(text: text.reveal(), source: settings.secretKeySource)
            } else {
                try SealingKey(file: settings.keyFile)
            }
        let lock = try DatabaseLock(settings, creates: false)
        defer { withExtendedLifetime(lock) {} }
        let store = try Engine.open(settings.place, true)
        defer { try? store.close() }
        let (replaced, lost) = try await store.write { transaction in
            var (replaced, lost) = (0, 0)
            for column in SealedColumn.all {
                replaced += try transaction.reseal(column) { key, sealed in
                    let purpose = column.purpose(key)
                    guard !purpose.isEmpty else { return nil }
                    if let text = try? former.open(sealed, for: purpose) {
                        return try present.seal(text, for: purpose)
                    }
                    if (try? present.open(sealed, for: purpose)) == nil { lost += 1 }
                    return nil
                }
            }
            return (replaced, lost)
        }
        Console.line("\(replaced) texts are sealed with the current key.")
        if lost > 0 { Console.line("\(lost) texts were sealed with neither key, and stay as they are.") }
    }
}
