// SPDX-License-Identifier: Apache-2.0

extension Event {
    /// Whether a text that people read has characters that reverse it or hide something in it.
    var hasHiddenCharacters: Bool {
        [summary, location, description].contains { $0?.hasHiddenCharacters ?? false }
            || categories.contains(where: \.hasHiddenCharacters)
    }
}

extension ProblemLog {
    /// Reports that a text contains invisible characters.
    mutating func addHiddenCharacters(line: Int) {
        add(
            .warning, "hidden-characters", line: line,
            Sentence(
                .hiddenCharacters,
                """
                A text holds characters that are not shown and change what is shown, such as U+202E; calendars are written \
                without them.
                """))
    }
}
