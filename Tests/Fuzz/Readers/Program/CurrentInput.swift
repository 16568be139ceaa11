// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The input that is being checked, in a file that outlives the process; each process has its own.
enum CurrentInput {
    private static let longest = 1 << 20
    /// A file that is mapped into memory: what is written is kept when the process ends, at the price of a copy.
    ///
    /// Only one thread uses it.
    nonisolated(unsafe) private static var map: UnsafeMutableRawPointer?

    static func keep(_ input: [UInt8], in folder: URL) {
        if unsafe map == nil { unsafe map = open(folder) }
        guard let map = unsafe map, input.count < longest else { return }
        unsafe map.storeBytes(of: UInt32(input.count), as: UInt32.self)
        unsafe input.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            unsafe (map + 4).copyMemory(from: base, byteCount: bytes.count)
        }
    }

    /// Removes the file when no input broke a promise.
    static func remove(_ folder: URL) { try? FileManager.default.removeItem(at: file(folder)) }

    private static func file(_ folder: URL) -> URL { folder.appending(path: "current-input-\(getpid())") }

    private static func open(_ folder: URL) -> UnsafeMutableRawPointer? {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let descriptor = unsafe Foundation.open(file(folder).path(), O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, longest + 4) == 0 else { return nil }
        let map = unsafe mmap(nil, longest + 4, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        return unsafe map == MAP_FAILED ? nil : map
    }
}
