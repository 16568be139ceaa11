// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Which installation a command works on.
struct SettingsOptions: ParsableArguments {
    @Option(help: "The SQLite file (default ./kalends-data/kalends.sqlite).")
    var database: String?

    @Option(help: "A JSON file with settings.")
    var config: String?

    func settings(_ flags: [String: String?] = [:]) async throws -> ServerSettings {
        var given = flags.compactMapValues { $0 }
        if let database { given["database"] = database }
        return try await ServerSettings(flags: given, configFile: config)
    }
}
