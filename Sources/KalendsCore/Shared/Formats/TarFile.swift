// SPDX-License-Identifier: Apache-2.0

/// One file in an archive as `tar` writes it (POSIX.1-2001, the interchange format `ustar`).
package struct TarFile: Sendable {
    /// Its path within the archive: at most 100 bytes.
    package var path: String
    package var bytes: [UInt8]

    package init(_ path: String, _ bytes: [UInt8]) { (self.path, self.bytes) = (path, bytes) }

    private static let block = 512

    /// The end of an archive.
    package static let end = [UInt8](repeating: 0, count: 2 * block)

    /// The file with what comes before and after it in an archive; its own bytes are not copied.
    ///
    /// - Parameter changedAt: milliseconds since 1970.
    package func packed(changedAt: Int) -> [[UInt8]] {
        [Self.head(path, bytes.count, changedAt: changedAt), bytes, Self.filling(bytes.count)]
    }

    /// The header that precedes a file of this many bytes in an archive.
    package static func head(_ path: String, _ count: Int, changedAt: Int) -> [UInt8] {
        precondition(path.utf8.count <= 100, "The path of an archived file is too long.")
        var head: [UInt8] = []
        head.reserveCapacity(block)
        func add(_ text: String, _ width: Int) {
            head += text.utf8
            head += [UInt8](repeating: 0, count: width - text.utf8.count)
        }
        func add(octal number: Int, _ width: Int) {
            let digits = String(number, radix: 8)
            add(String(repeating: "0", count: max(0, width - 1 - digits.utf8.count)) + digits, width)
        }
        add(path, 100)
        add(octal: 0o600, 8)
        add(octal: 0, 8)
        add(octal: 0, 8)
        add(octal: count, 12)
        add(octal: max(0, changedAt / 1000), 12)
        // The sum is made as if its own place were blank.
        let sum = head.count
        add("        ", 8)
        add("0", 1)
        add("", 100)
        add("ustar", 6)
        add("00", 2)
        add("", block - head.count)
        let digits = String(head.reduce(0) { $0 + Int($1) }, radix: 8)
        let text = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits + "\0 "
        head.replaceSubrange(sum..<sum + 8, with: text.utf8)
        return head
    }

    /// The padding that follows a file of this many bytes.
    package static func filling(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: (block - count % block) % block)
    }
}
