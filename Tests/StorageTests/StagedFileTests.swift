// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import Storage

@Suite("Files that are written under another name first")
struct StagedFileTests {
    private static func written(_ file: StagedFile, _ text: String) throws {
        var rest: [UInt8]? = Array(text.utf8)
        try file.write { rest.take() }
    }

    private static func names(_ directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    @Test("A new file has its name once it is whole, for its owner only, and nothing else is left")
    func publishes() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "new").path
            let file = try StagedFile(new: path)
            try Self.written(file, "whole")
            #expect(!FileManager.default.fileExists(atPath: path))
            try file.publish()
            #expect(try Self.names(directory) == ["new"])
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "whole")
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("What is in its place stays as it is, also a dangling link and something that came later")
    func keepsOthers() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "there").path
            let refusal = StorageError.notWritten(path: path, reason: "it is there already")
            let late = try StagedFile(new: path)
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: directory.appending(path: "nowhere").path)
            #expect(throws: refusal) { try StagedFile(new: path) }
            #expect(throws: refusal) { try late.publish() }
            late.discard()
            #expect(try Self.names(directory) == ["there"])
            try FileManager.default.removeItem(atPath: path)
            #expect(unsafe mkfifo(path, 0o600) == 0)
            #expect(throws: refusal) { try StagedFile(new: path) }
            #expect(try Self.names(directory) == ["there"])
        }
    }

    @Test("A file that replaces another removes what an earlier try left behind, and no folder")
    func replaces() async throws {
        try await TemporaryStore.withDirectory { directory in
            let (path, staged) = (directory.appending(path: "a").path, directory.appending(path: "a.restoring").path)
            let other = directory.appending(path: "other").path
            try "before".write(toFile: path, atomically: false, encoding: .utf8)
            try "somebody's".write(toFile: other, atomically: false, encoding: .utf8)
            try FileManager.default.createSymbolicLink(atPath: staged, withDestinationPath: other)
            let file = try StagedFile(replacing: path, staged: staged)
            try Self.written(file, "after")
            try file.replace()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "after")
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "somebody's")
            #expect(try Self.names(directory) == ["a", "other"])
            try FileManager.default.createDirectory(atPath: staged, withIntermediateDirectories: false)
            #expect(throws: StorageError.self) { try StagedFile(replacing: path, staged: staged) }
            #expect(try Self.names(directory) == ["a", "a.restoring", "other"])
        }
    }

    @Test("The system's reason is in the error")
    func reasons() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "none/file").path
            #expect(throws: StorageError.notWritten(path: path, reason: "No such file or directory")) {
                try StagedFile(new: path)
            }
        }
    }
}
