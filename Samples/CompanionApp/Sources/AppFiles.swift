// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
import Foundation
import KalendsCompanion
import Security

/// Where the app keeps what: files in its own folder, which goes with the app, and the token in the Keychain.
enum AppFiles {
    static let folder = URL.applicationSupportDirectory.appending(path: "Kalends")

    static let connector = PrivateFile<ConnectorRecord>(folder.appending(path: "connector.json"))
    static let status = PrivateFile<SyncStatus>(folder.appending(path: "status.json"))
    static let usage = PrivateFile<[ByteString: Int]>(folder.appending(path: "usage.json"))
    static let engine = folder.appending(path: "engine.json")

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

    private static let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "org.kalends.companion",
        kSecAttrAccount as String: "device",
    ]

    static func token() -> String? {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &found)
        guard status == errSecSuccess, let data = found as? Data else { return nil }
        return String(data: data, encoding: .utf8)
    }

    /// Keeps a token where background time finds it, and no backup does.
    static func keep(_ token: String?) {
        SecItemDelete(query as CFDictionary)
        guard let token else { return }
        let attributes: [String: Any] = [
            kSecValueData as String: Data(token.utf8),
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        SecItemAdd(query.merging(attributes) { $1 } as CFDictionary, nil)
    }
}
#endif
