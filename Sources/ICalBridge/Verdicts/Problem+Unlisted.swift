// SPDX-License-Identifier: Apache-2.0

extension Problem {
    /// How many more problems this one represents; nil unless it is the entry that stands for problems that are not
    /// listed.
    package var unlisted: Int? {
        guard sentence.code == .moreProblems, case .number(let count)? = sentence.arguments.first?.value else {
            return nil
        }
        return count
    }
}
