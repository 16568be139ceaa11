// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Settings that are systemd's credentials")
struct SettingCredentialsTests {
    /// Runs something with a folder of credentials, as systemd passes it to a service.
    private static func with(
        _ credentials: [String: Data], _ body: (_ environment: [String: String]) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, content) in credentials { try content.write(to: folder.appending(path: name)) }
        try await body(["CREDENTIALS_DIRECTORY": folder.path])
    }

    private static func values(_ environment: [String: String], file: String? = nil) -> SettingValues {
        SettingValues(flags: [:], configFile: file, environment: environment)
    }

    private static let secretSettings = Setting.all.filter { $0.isSecret && !$0.hasFlag }

    @Test("The package's service loads a credential for each of them")
    func unit() throws {
        let unit = try String(
            contentsOf: packageRoot.appending(path: "Packaging/debian/kalends.service"), encoding: .utf8)
        let loaded = unit.matches(of: /(?m)^LoadCredentialEncrypted=(.*)$/).map { String($0.1) }
        #expect(loaded.sorted() == Self.secretSettings.map { "kalends.\($0.name)" }.sorted())
    }

    @Test(
        "Every secret that no argument may show is taken from a credential, without the line break at its end",
        arguments: secretSettings)
    func secrets(setting: Setting) async throws {
        for end in ["", "\n", "\r\n"] {
            try await Self.with(["kalends.\(setting.name)": Data("hush hush\(end)".utf8)]) { environment in
                let values = Self.values(environment)
                #expect(values.text(setting) == "hush hush" && values.source(of: setting) == .credential)
                #expect(values.shown(setting) == "(set)" && values.faults.isEmpty)
            }
        }
    }

    @Test("A variable overrides a credential, which overrides the settings file")
    func order() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).conf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("jwtSecret = of the file\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try await Self.with(["kalends.jwtSecret": Data("of the credential".utf8)]) { environment in
            #expect(Self.values(environment, file: file.path).text(.jwtSecret) == "of the credential")
            let both = environment.merging(["KALENDS_JWT_SECRET": "of the variable"]) { $1 }
            #expect(Self.values(both, file: file.path).text(.jwtSecret) == "of the variable")
            #expect(Self.values([:], file: file.path).text(.jwtSecret) == "of the file")
        }
    }

    @Test("A credential of ours for something else is a fault; other services' credentials are left alone")
    func others() async throws {
        try await Self.with(["kalends.port": Data("1".utf8), "else.secretKey": Data("x".utf8)]) { environment in
            let values = Self.values(environment)
            let fault = try #require(values.faults.first)
            #expect(values.faults.count == 1)
            #expect(fault.hasPrefix("The credential kalends.port is not for a secret setting; these are: kalends."))
            #expect(values.text(.port) == nil && values.text(.secretKey) == nil)
        }
    }

    @Test("What cannot be a secret is a fault that shows nothing of it")
    func unusable() async throws {
        try await Self.with(["kalends.secretKey": Data([0x68, 0xFF])]) { environment in
            let faults = Self.values(environment).faults
            #expect(faults == ["The credential kalends.secretKey does not hold text in UTF-8."])
        }
        let missing = Self.values(["CREDENTIALS_DIRECTORY": "/nonexistent/credentials"])
        #expect(missing.faults == ["CREDENTIALS_DIRECTORY names a folder that cannot be read."])
        #expect(Self.values(["CREDENTIALS_DIRECTORY": ""]).faults.isEmpty)
    }

    @Test("A server seals with the key of its credential, and writes no key beside its database")
    func server() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sealed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "k.sqlite").path
        try SQLiteStore(path: path).close()
        let options = ["--database", path]
        let key = Data(repeating: 7, count: 32).base64EncodedString()
        try await Self.with(["kalends.secretKey": Data((key + "\n").utf8)]) { environment in
            let made = try await runProgram(
                Programs.kalends, ["key", "create", "--name", "test"] + options, environment: environment)
            #expect(made.status == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files.contains("k.sqlite") && !files.contains("k.sqlite.key"))
        }
        try await Self.with(["kalends.secretKey": Data("short".utf8)]) { environment in
            let refused = try await runProgram(Programs.kalends, ["key", "list"] + options, environment: environment)
            #expect(refused.status != 0)
            #expect(
                refused.error.contains("The credential kalends.secretKey does not hold a key of 32 bytes in base64."))
        }
    }
}
