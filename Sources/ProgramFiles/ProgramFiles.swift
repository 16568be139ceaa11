// SPDX-License-Identifier: Apache-2.0

private import CFiles

/// The files of the sources that are part of the program, which so remains a single file.
package enum ProgramFiles {
    /// The bytes of a file of this name, without its folder; empty if the program has none.
    package static func bytes(of name: String) -> [UInt8] { all.first { $0.name == name }?.bytes ?? [] }

    /// The files whose names end with this text, without it, in the order in which the program has them.
    package static func all(endingWith ending: String) -> [(String, [UInt8])] {
        all.filter { $0.name.hasSuffix(ending) }.map { (String($0.name.dropLast(ending.count)), $0.bytes) }
    }

    private static let all: [(name: String, bytes: [UInt8])] = {
        var found: [(name: String, bytes: [UInt8])] = []
        while true {
            // The memory to which a file points is never changed or freed.
            let file = unsafe kalends_file_at(Int32(found.count))
            guard let name = unsafe file.name, let bytes = unsafe file.bytes else { return found }
            let buffer = unsafe UnsafeBufferPointer(start: bytes, count: file.count)
            unsafe found.append((String(cString: name), Array(buffer)))
        }
    }()
}
