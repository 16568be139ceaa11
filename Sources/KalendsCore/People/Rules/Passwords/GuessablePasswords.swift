// SPDX-License-Identifier: Apache-2.0

import ProgramFiles

/// The passwords that are guessed first: those that many people use, and those made of words that everybody here knows.
///
/// It applies to passwords that users choose and that the operator sets; host applications follow their own rules.
struct GuessablePasswords: Sendable {
    /// Words that everybody here knows, in lower case: the names of the product and the app, and the parts of the host
    /// name.
    private let words: [String]

    /// The length of the shortest word that counts; shorter words occur in many good passwords by chance.
    private static let shortestWord = 4
    /// The minimum number of characters that a password must have in addition to words that everybody knows.
    private static let fewestOthers = 4

    init(_ settings: ServerSettings) {
        let host = settings.publicURL.parted(at: "://")?.after.prefix { !"/:".contains($0) } ?? ""
        let parts = host.split(separator: ".") + settings.brand.name.split(separator: " ")
        words = ["kalends"] + parts.map { $0.lowercased() }
    }

    /// Returns what is wrong with a user's new password; nil if it cannot be guessed at once.
    func fault(_ password: Concealed, of user: String, at pointer: String = "/password") -> Fault? {
        let text = password.reveal().lowercased()
        if Self.isCommon(text) {
            return Fault(
                pointer: pointer, code: .guessable, message: "Many people use this password, so it is easy to guess.")
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

    private static let common = ProgramFiles.bytes(of: "common-passwords.txt")

    /// Whether this password is a line of the list.
    private static func isCommon(_ text: String) -> Bool {
        guard !text.contains("\n"), !text.hasPrefix("#") else { return false }
        return common.firstRange(of: Array("\n\(text)\n".utf8)) != nil
    }
}
