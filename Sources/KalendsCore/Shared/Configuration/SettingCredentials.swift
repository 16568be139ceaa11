// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The secrets that systemd passes to a service as credentials (systemd.exec(5), Credentials).
///
/// The manager decrypts each into a file that only the service can read and that is never written to a disk; on the
/// disk it is sealed with the machine's TPM or the key of the host. The credential `kalends.NAME` is the value of the
/// setting `NAME`, if that is one whose value may not be a command's argument.
enum SettingCredentials {
    /// The variable with which systemd names the folder of a service's credentials.
    static let folderVariable = "CREDENTIALS_DIRECTORY"
    static let prefix = "kalends."

    /// Returns the values by the names of the settings; a credential with our prefix for anything else is a fault,
    /// because the mistake would otherwise go unnoticed.
    static func read(_ environment: [String: String], _ faults: inout [String]) -> [String: String] {
        guard let folder = environment[folderVariable], !folder.isEmpty else { return [:] }
        let known = Set<ByteString>(Setting.all.filter { $0.isSecret && !$0.hasFlag }.map(\.name))
        var values: [String: String] = [:]
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            faults.append("\(folderVariable) names a folder that cannot be read.")
            return [:]
        }
        for name in names.sorted() where name.hasPrefix(prefix) {
            let setting = String(name.dropFirst(prefix.count))
            guard known.contains(setting) else {
                let secrets = known.sortedTexts().map { prefix + $0 }.joined(separator: ", ")
                faults.append("The credential \(printable(name)) is not for a secret setting; these are: \(secrets).")
                continue
            }
            do {
                if let text = try secretText(inFile: folder + "/" + name) {
                    values[setting] = text
                } else {
                    faults.append("The credential \(name) does not hold text in UTF-8.")
                }
            } catch {
                faults.append("The credential \(name) cannot be used: \(publicText(error))")
            }
        }
        return values
    }
}

/// Returns the secret in a file of at most 64 KiB, without one line break at its end; nil when it is not text in UTF-8.
func secretText(inFile path: String) throws -> String? {
    let bytes = try InputFile(path, limit: 65_536).whole()
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    return text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
}
