// SPDX-License-Identifier: Apache-2.0

import Base
import FoundationEssentials
import Storage
import StorageSQLite
import Testing

@Suite("Reads of polls")
struct PollReadTests {
    @Test("A poll is read while lists and exports keep all other connections", .timeLimit(.minutes(1)))
    func pollPasses() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try SQLiteStore(path: directory.appending(path: "k.sqlite").path)
            defer { try? store.close() }
            let (begun, goesOn) = (Semaphore(), Semaphore())
            func long() -> Task<Void, any Error> {
                Task {
                    try await store.read { _ in
                        begun.signal()
                        goesOn.wait()
                    }
                }
            }
            let lists = (0..<6).map { _ in long() }
            await withCheckedContinuation { (begin: CheckedContinuation<Void, Never>) in
                let waiter = SystemThread()
                try? waiter.start {
                    for _ in 0..<4 { begun.wait() }
                    begin.resume()
                }
            }
            let found = try await ReadPurpose.$isShort.withValue(true) {
                try await store.read { try $0.latestChange() }
            }
            #expect(found == 0)
            for _ in lists { goesOn.signal() }
            for list in lists { try await list.value }
        }
    }
}
