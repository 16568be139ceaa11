// SPDX-License-Identifier: Apache-2.0

/// Counts the UIDs that were made from the content of events, in little memory: a file may have a million of them.
struct MadeUIDs {
    private var once: Set<Int> = []
    private var oftener: [Int: Int] = [:]

    /// Counts a UID, and returns how often it has been made so far.
    mutating func add(_ uid: String) -> Int {
        let hash = uid.hashValue
        if once.insert(hash).inserted { return 1 }
        oftener[hash, default: 1] += 1
        return oftener[hash, default: 1]
    }
}
