// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The engine that keeps calendars in step, run against a CalDAV server that `Scripts/bench-caldav.py` has started.
struct InStep: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Keep events in step with a CalDAV server.")

    @Option(help: "The server's address.")
    var url: String

    @Option(help: "The account.")
    var username = "alice"

    @Option(help: "Its password.")
    var password = "secret"

    @Option(help: "How many events.")
    var events = 1000

    func run() async throws {
        let runs = try await InStepRuns(url: url, username: username, password: password, events: events)
        for name in ["first", "unchanged", "one change", "one change there"] {
            let (milliseconds, requests) = try await runs.measure(name)
            print("\(name)\t\(rounded(milliseconds, 1))\t\(requests)")
        }
    }
}
