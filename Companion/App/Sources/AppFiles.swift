// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import Security

/// What the person has chosen.
nonisolated struct AppChoices: Codable, Equatable, Sendable {
    /// The server with which this phone is paired; nil before.
    var server: ServerAddress?
    /// The id of this phone at the server.
    var deviceID = ""
    /// The calendars whose events go to the server with all their fields.
    var own: [String] = []
    /// The calendars whose events go to the server with only their titles and times.
    var planned: [String] = []
    /// The calendar into which Kalends writes the server's events.
    var mirror: String?
}

/// Where the app keeps what: files in its own folder, which goes with the app, and the token in the Keychain.
nonisolated enum AppFiles {
    static let folder = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        .appending(path: "Kalends")

    static let choices = PrivateFile<AppChoices>(folder.appending(path: "choices.json"))
    static let connector = PrivateFile<ConnectorRecord>(folder.appending(path: "connector.json"))
    static let status = PrivateFile<SyncStatus>(folder.appending(path: "status.json"))
    static let usage = PrivateFile<[ByteString: Int]>(folder.appending(path: "usage.json"))
    static let engine = folder.appending(path: "engine.json")
    static let offices = folder.appending(path: "offices.json")

    /// What this installation calls itself. The file is left out of backups, so that another phone has its own.
    static func installation() throws -> String {
        let file = PrivateFile<String>(folder.appending(path: "installation.json"))
        if let kept = try file.read() { return kept }
        let new = UUID().uuidString
        try file.write(new)
        var (url, values) = (file.url, URLResourceValues())
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        return new
    }

    /// A value of `Any` cannot be shared between threads, so each use makes its own.
    private static var query: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "org.kalends.companion",
            kSecAttrAccount as String: "device",
        ]
    }

    static func token() -> String? {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &found)
        guard status == errSecSuccess, let data = found as? Data else { return nil }
        return String(data: data, encoding: .utf8)
    }

    /// Keeps a token where background time finds it, and no backup does.
    ///
    /// - Returns: whether the Keychain has taken it.
    @discardableResult
    static func keep(_ token: String?) -> Bool {
        SecItemDelete(query as CFDictionary)
        guard let token else { return true }
        let attributes: [String: Any] = [
            kSecValueData as String: Data(token.utf8),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        return SecItemAdd(query.merging(attributes) { $1 } as CFDictionary, nil) == errSecSuccess
    }
}
