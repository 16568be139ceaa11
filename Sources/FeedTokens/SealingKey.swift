// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
internal import Glibc
internal import Storage
internal import Synchronization

/// The server's key, under which secrets that must be shown again are stored (AES-256-GCM).
///
/// All copies share one key, even after `turn(to:)`: from then on the new key seals, and both keys open.
public struct SealingKey: Sendable {
    private final class Ring: Sendable {
        struct Keys {
            var present: SymmetricKey
            var former: SymmetricKey?
        }

        let keys: Mutex<Keys>

        init(_ present: SymmetricKey) { keys = Mutex(Keys(present: present)) }
    }

    private let ring: Ring
    private var present: SymmetricKey { ring.keys.withLock(\.present) }

    /// Why a key cannot be loaded, or a text cannot be opened with it; the description never contains part of a key.
    public enum Failure: Error, Hashable, CustomStringConvertible {
        case malformed(source: String)
        case unreadable(path: String, reason: String)
        case openToOthers(path: String)
        /// The text was sealed with another key or for another purpose, or was changed.
        case wrongKey

        public var description: String {
            switch self {
            case .malformed(let source): "\(source) does not hold a key of 32 bytes in base64."
            case .unreadable(let path, let reason): "\(path) cannot be used: \(reason)."
            case .openToOthers(let path): "\(path) can be read by other users; run: chmod 600 \(path)"
            case .wrongKey: "What is stored was not sealed with this server's key."
            }
        }
    }

    /// Reads a key from text: 32 bytes in base64 (either alphabet).
    public init(text: String, source: String) throws(Failure) {
        let trimmed = text.filter { !$0.isWhitespace }
        let standard = trimmed.replacing("-", with: "+").replacing("_", with: "/")
        let padded = standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: padded), data.count == 32 else { throw .malformed(source: source) }
        ring = Ring(SymmetricKey(data: data))
    }

    /// Reads the key in a file.
    ///
    /// - Parameter creates: whether a file that does not exist is created with a new key, which only its owner can read.
    public init(file path: String, creates: Bool = true) throws(Failure) {
        if !FileManager.default.fileExists(atPath: path) {
            guard creates else { throw .unreadable(path: path, reason: "there is no such file") }
            try Self.create(path)
        }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw .unreadable(path: path, reason: "it cannot be examined") }
        switch status.st_mode & S_IFMT {
        // Reading a pipe would block, and a device has no end.
        case S_IFREG where status.st_size <= 65_536: break
        case S_IFREG: throw .malformed(source: path)
        case S_IFLNK: throw .unreadable(path: path, reason: "it is a symbolic link, but the key must be a regular file")
        default: throw .unreadable(path: path, reason: "it is not a file")
        }
        guard status.st_mode & 0o077 == 0 else { throw .openToOthers(path: path) }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw .unreadable(path: path, reason: "it cannot be read as text")
        }
        try self.init(text: text, source: path)
    }

    /// Seals with another key from now on; what this key sealed is still opened.
    public func turn(to next: SealingKey) {
        let key = next.present
        ring.keys.withLock { keys in
            guard keys.present != key else { return }
            keys = Ring.Keys(present: key, former: keys.present)
        }
    }

    /// Also opens, from now on, what a former key sealed.
    public func remember(_ former: SealingKey) {
        let key = former.present
        ring.keys.withLock { $0.former = key }
    }

    /// The same text sealed with the current key; nil when it already is, or when no key opens it.
    public func renewed(_ sealed: String, for purpose: String) throws -> String? {
        guard Self.text(sealed, purpose, present) == nil, let text = try? open(sealed, for: purpose) else { return nil }
        return try seal(text, for: purpose)
    }

    /// Seals a text for one purpose; opening it requires the same purpose.
    public func seal(_ text: String, for purpose: String) throws -> String {
        let box = try AES.GCM.seal(Data(text.utf8), using: present, authenticating: Data(purpose.utf8))
        guard let combined = box.combined else { throw Failure.wrongKey }
        return "v1." + combined.base64EncodedString()
    }

    /// Opens a text that `seal` made for this purpose.
    public func open(_ sealed: String, for purpose: String) throws(Failure) -> String {
        let keys = ring.keys.withLock { $0 }
        if let text = Self.text(sealed, purpose, keys.present) { return text }
        guard let former = keys.former, let text = Self.text(sealed, purpose, former) else { throw .wrongKey }
        return text
    }

    private static func text(_ sealed: String, _ purpose: String, _ key: SymmetricKey) -> String? {
        guard sealed.hasPrefix("v1."), let combined = Data(base64Encoded: String(sealed.dropFirst(3))),
            let box = try? AES.GCM.SealedBox(combined: combined),
            let clear = try? AES.GCM.open(box, using: key, authenticating: Data(purpose.utf8))
        else { return nil }
        return String(data: clear, encoding: .utf8)
    }

    /// A name that follows from the key and the purpose and reveals nothing about the key: 24 hexadecimal digits.
    public func name(for purpose: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(purpose.utf8), using: present)
        return Hexadecimal.text(Array(code).prefix(12))
    }

    private static func create(_ path: String) throws(Failure) {
        let text = unsafe SymmetricKey(size: .bits256).withUnsafeBytes { unsafe Data($0) }.base64EncodedString() + "\n"
        // Written whole or not at all: half a key would make every later start fail. No other user can read it at any
        // time.
        guard let file = try? StagedFile(new: path) else {
            throw .unreadable(path: path, reason: "it cannot be created")
        }
        do {
            var rest: [UInt8]? = Array(text.utf8)
            try file.write { rest.take() }
            try file.publish()
        } catch {
            file.discard()
            throw .unreadable(path: path, reason: "it cannot be written")
        }
    }
}

extension SealingKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "[redacted]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
