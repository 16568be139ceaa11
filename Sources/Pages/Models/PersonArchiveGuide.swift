// SPDX-License-Identifier: Apache-2.0

/// The page of an archive of a person's data that says what is in it, in every language.
public enum PersonArchiveGuide {
    /// The folders of the archive, in the order in which they are explained.
    public static let folders = [
        "account", "signIn", "devices", "circles", "schedule", "feeds", "imports", "connections", "calendars",
        "personal", "phones", "officeDays", "audit",
    ]

    public static func text(of user: String) -> String {
        Language.allCases.map { language in
            let words = Words.of(language)
            let lines = folders.map { "\($0)/: \(words("archive_\($0)"))" }
            return ([words("archiveTitle", ["user": user]), "", words("archiveLead"), ""] + lines).joined(
                separator: "\n")
        }.joined(separator: "\n\n\n") + "\n"
    }
}
