// SPDX-License-Identifier: Apache-2.0

extension Problem {
    /// How many more problems this one represents; nil unless it is the entry that stands for problems that are not
    /// listed.
    package var unlisted: Int? {
        let words = message.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[1] == "more problems of this kind from here on are not listed." else {
            return nil
        }
        return Int(words[0])
    }
}
