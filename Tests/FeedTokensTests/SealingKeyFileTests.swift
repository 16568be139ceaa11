// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import StorageSQLite
import Testing

@Suite("The sealing key's file")
struct SealingKeyFileTests {
    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("It is made with a key, for its owner's eyes only, and is the same key afterwards")
    func makesFile() throws {
        try TemporaryLedger.withDirectory { directory in
            let path = directory.appending(path: "kalends.sqlite.key").path
            let first = try SealingKey(file: path)
            #expect(try Self.mode(path) == 0o600)
            let content = try String(contentsOfFile: path, encoding: .utf8)
            #expect(content.hasSuffix("=\n"))
            #expect(Data(base64Encoded: content.trimmingCharacters(in: .newlines))?.count == 32)

            let second = try SealingKey(file: path)
            #expect(try second.open(try first.seal("clear", for: "test"), for: "test") == "clear")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
        }
    }

    @Test("Two files have two keys")
    func makesDistinctKeys() throws {
        try TemporaryLedger.withDirectory { directory in
            let keys = try ["a", "b"].map { try SealingKey(file: directory.appending(path: $0).path) }
            let sealed = try keys[0].seal("clear", for: "test")
            #expect(throws: SealingKey.Failure.wrongKey) { try keys[1].open(sealed, for: "test") }
        }
    }

    @Test(
        "A file that others can touch is refused with the remedy, and left as it is",
        arguments: [
            0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666, 0o777,
        ])
    func refusesOpenFile(mode: Int) throws {
        try TemporaryLedger.withDirectory { directory in
            let path = directory.appending(path: "key").path
            _ = try SealingKey(file: path)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let error = try #require(throws: SealingKey.Failure.self) { try SealingKey(file: path) }
            #expect(error == .openToOthers(path: path))
            #expect("\(error)".contains("chmod 600 \(path)"))
            #expect(try Self.mode(path) == mode)
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
            #expect(throws: Never.self) { try SealingKey(file: path) }
        }
    }

    @Test(
        "A malformed file is refused without its content, and never overwritten",
        arguments: [
            "", "\n", "correct horse battery staple", "c2hvcnQ=", String(repeating: "QUJD", count: 30),
            "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZQ==", "{\"key\":\"QUJDREVGR0hJ\"}",
        ])
    func refusesMalformed(content: String) throws {
        try TemporaryLedger.withDirectory { directory in
            let path = directory.appending(path: "key").path
            #expect(FileManager.default.createFile(atPath: path, contents: Data(content.utf8)))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let error = try #require(throws: SealingKey.Failure.self) { try SealingKey(file: path) }
            #expect(error == .malformed(source: path))
            #expect("\(error)" == "\(path) does not hold a key of 32 bytes in base64.")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
        }
    }

    @Test("A directory, bytes that are not text, a dangling link and a missing directory are refused in a sentence")
    func refusesUnreadable() throws {
        try TemporaryLedger.withDirectory { directory in
            let folder = directory.appending(path: "folder")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let binary = directory.appending(path: "binary")
            try Data([0xFF, 0xFE, 0x00, 0xC0]).write(to: binary)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: binary.path)
            let link = directory.appending(path: "link")
            try FileManager.default.createSymbolicLink(
                at: link, withDestinationURL: directory.appending(path: "target"))
            for path in [folder.path, binary.path, link.path, directory.appending(path: "missing/key").path] {
                let error = try #require(throws: SealingKey.Failure.self) { try SealingKey(file: path) }
                guard case .unreadable(let named, _) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(named == path)
                #expect("\(error)".hasPrefix("\(path) cannot be used: it "))
            }
            #expect(!FileManager.default.fileExists(atPath: directory.appending(path: "target").path))
        }
    }
}
