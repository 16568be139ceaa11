// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

/// The process that has a lock, as far as the system shows it.
package struct LockHolder {
    let process: Int
    let isStopped: Bool

    /// Nil when no process has the lock, or only a process in another container that is not visible here.
    package init?(ofLock path: String) {
        guard let file = FileIdentity(path: path), let table = try? InputFile("/proc/locks", limit: 1 << 24).whole()
        else {
            return nil
        }
        // `1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF`
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(file.inode)"),
                let process = Int(words[4]),
                process > 0
            else { continue }
            self.process = process
            isStopped = Self.state(of: process).map { $0.is("T") || $0.is("t") } ?? false
            return
        }
        return nil
    }

    /// The process id and, if the process is stopped, how to continue it.
    package var description: String {
        "process \(process)\(isStopped ? ", which is stopped (kill -CONT \(process) lets it go on)" : "")"
    }

    /// The process's state: the letter after the program's name, which may contain any characters.
    private static func state(of process: Int) -> Character? {
        guard let bytes = try? InputFile("/proc/\(process)/stat", limit: 1 << 16).whole() else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.lastIndex(of: ")").flatMap { text[text.index(after: $0)...].first { !$0.is(" ") } }
    }
}
