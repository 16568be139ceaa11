// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FeedTokens
import Foundation
import Storage
import StorageSQLite

/// Fills a database with very many feeds, by the same verbs as the server and without its HTTP.
struct Feeds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Create a database with very many feeds.")

    @Option(help: "How many feeds.")
    var count = 1_000_000

    @Option(help: "How many of them belong to one circle.")
    var perCircle = 100

    @Option(help: "The SQLite file to create; its key is created beside it.")
    var database: String

    @Option(help: "The file for the addresses' paths, one per line; only its owner can read it.")
    var paths: String

    func run() async throws {
        _ = umask(0o077)
        let store = try SQLiteStore(path: database)
        let ledger = FeedLedger(store: store, key: try SealingKey(file: database + ".key"))
        guard FileManager.default.createFile(atPath: paths, contents: nil),
            let file = FileHandle(forWritingAtPath: paths)
        else { throw ValidationError("\(paths) cannot be written.") }
        let now = Int(Date().timeIntervalSince1970 * 1000) - 60_000
        let (each, total) = (perCircle, count)
        for first in stride(from: 0, to: total, by: each * 100) {
            let lines = try await store.write { transaction -> String in
                var lines = ""
                for start in stride(from: first, to: min(total, first + each * 100), by: each) {
                    let circle = "circle-\(start / each)"
                    _ = try transaction.putCircle(Circle(id: circle, name: circle, timeZone: "Europe/Berlin"), now: now)
                    _ = try transaction.putMember("ann", in: circle, displayName: "Ann", role: .owner, now: now)
                    for number in start..<min(total, start + each) {
                        let new = FeedLedger.NewFeed(
                            circleID: circle, userID: "ann", label: "\(number)", config: "{}", expiresAt: nil)
                        let (_, token) = try ledger.create(new, in: transaction, now: now)
                        lines += "/feeds/\(token.reveal())/feed.ics\n"
                    }
                }
                return lines
            }
            file.write(Data(lines.utf8))
        }
        try file.close()
        try store.close()
    }
}
