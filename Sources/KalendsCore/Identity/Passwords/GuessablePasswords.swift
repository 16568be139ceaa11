// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens

/// The passwords that are guessed first: those that many people have, and those made of what everybody here knows.
///
/// It judges what users choose for themselves; what the operator or a host application sets follows their own rules.
struct GuessablePasswords: Sendable {
    /// Words that everybody here knows, in small letters: the product's name, the app's, and the host's parts.
    private let words: [String]

    /// Shorter words are in many good passwords by chance.
    private static let shortestWord = 4
    /// How many characters a password has besides words that everybody knows.
    private static let fewestOthers = 4

    init(_ settings: ServerSettings) {
        let host = settings.publicURL.parted(at: "://")?.after.prefix { !"/:".contains($0) } ?? ""
        let parts = host.split(separator: ".") + settings.brand.name.split(separator: " ")
        words = ["kalends"] + parts.map { $0.lowercased() }
    }

    /// What is wrong with a new password of a user; nil when nobody guesses it at once.
    func fault(_ password: Concealed, of user: String, at pointer: String = "/password") -> Fault? {
        let text = password.reveal().lowercased()
        if Self.isCommon(text) {
            return Fault(
                pointer: pointer, code: .guessable, message: "Many people have this password, so it is guessed first.")
        }
        var rest = text
        for word in words + [user.lowercased()] where word.utf8.count >= Self.shortestWord {
            rest = rest.replacing(word, with: "")
        }
        guard rest != text, rest.unicodeScalars.count < Self.fewestOthers else { return nil }
        return Fault(
            pointer: pointer, code: .guessable,
            message: "This password is little more than a name that everybody here knows.")
    }

    /// Whether a line of the list is this password.
    private static func isCommon(_ text: String) -> Bool {
        guard !text.contains("\n"), !text.hasPrefix("#") else { return false }
        return PackageResources.common_passwords_txt.firstRange(of: Array("\n\(text)\n".utf8)) != nil
    }
}
