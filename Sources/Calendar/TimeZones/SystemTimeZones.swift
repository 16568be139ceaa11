// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization

/// The system's tzdata: every zone by its IANA id, each read when it is first needed.
public final class SystemTimeZones: Sendable {
    /// The tzdata of this machine, from `TZDIR` or `/usr/share/zoneinfo`.
    public static let shared = SystemTimeZones(
        directory: ProcessInfo.processInfo.environment["TZDIR"] ?? "/usr/share/zoneinfo")

    /// The directory with the zone files.
    public let directory: String
    private let loaded = Mutex<[ByteString: SystemTimeZone]>([:])
    private let names = Mutex<[ByteString: String]?>(nil)

    init(directory: String) { self.directory = directory }

    /// The zone with exactly this id, links included; nil when tzdata has no such zone.
    ///
    /// The name comes from outside, so only a name that is spelled like a zone becomes part of a path.
    public func zone(_ identifier: String) -> SystemTimeZone? {
        if let zone = loaded.withLock({ $0[identifier] }) { return zone }
        // `Factory` means that no zone has been set.
        guard Self.isSpelledLikeAZone(identifier), identifier != "Factory",
            let data = try? Data(contentsOf: URL(filePath: "\(directory)/\(identifier)")),
            let zone = SystemTimeZone(identifier: identifier, tzif: [UInt8](data))
        else { return nil }
        loaded.withLock { $0[identifier] = zone }
        return zone
    }

    /// The id in tzdata's spelling, for an id in upper or lower case, or nil.
    public func canonicalSpelling(_ identifier: String) -> String? {
        let key = identifier.lowercased()
        #if os(Linux)
        // Names of files differ in case here, so a zone of this name is spelled like this. The list of all zones takes as long
        // as a thousand events; once it exists, no missing file is looked up.
        if let names = names.withLock({ $0 }) { return names[key] }
        if Self.isListed(identifier), zone(identifier) != nil { return identifier }
        #endif
        return names.withLock { names in
            if names == nil {
                names = Dictionary(list().map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
            }
            return names?[key]
        }
    }

    /// All ids, links included, sorted.
    public var identifiers: [String] { list().sorted() }

    /// Whether the machine has tzdata; zones cannot be converted without it.
    public var isAvailable: Bool { zone("UTC") != nil && zone("Europe/Berlin") != nil }

    private static func isSpelledLikeAZone(_ text: String) -> Bool {
        // Every id begins with a capital letter; other names are files of another kind (localtime, posixrules).
        guard (1...64).contains(text.utf8.count), text.utf8.first.map({ $0 >= 65 && $0 <= 90 }) == true else {
            return false
        }
        return text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            part.utf8.first.map { ($0 | 0x20) >= 97 && ($0 | 0x20) <= 122 } == true
                && part.utf8.allSatisfy {
                    ($0 | 0x20) >= 97 && ($0 | 0x20) <= 122 || $0 >= 48 && $0 <= 57 || $0 == 95 || $0 == 43 || $0 == 45
                }
        }
    }

    /// Files and folders that hold no zone of their own.
    private static let skipped: Set<ByteString> = [
        "posix", "right", "Etc/Unknown", "localtime", "posixrules", "Factory",
    ]

    /// Whether `list` has a zone of this name, if there is such a file.
    private static func isListed(_ identifier: String) -> Bool {
        guard isSpelledLikeAZone(identifier), !skipped.contains(identifier) else { return false }
        return identifier.split(separator: "/").last?.first?.isUppercase == true
    }

    private func list() -> [String] {
        var found: [String] = []
        func walk(_ prefix: String) {
            let path = prefix.isEmpty ? directory : "\(directory)/\(prefix)"
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                let identifier = prefix.isEmpty ? name : "\(prefix)/\(name)"
                guard Self.isSpelledLikeAZone(identifier), !Self.skipped.contains(identifier) else { continue }
                var isDirectory = false
                if FileManager.default.fileExists(atPath: "\(directory)/\(identifier)", isDirectory: &isDirectory),
                    isDirectory
                {
                    walk(identifier)
                } else if Self.isListed(identifier) {
                    found.append(identifier)
                }
            }
        }
        walk("")
        return found
    }
}
