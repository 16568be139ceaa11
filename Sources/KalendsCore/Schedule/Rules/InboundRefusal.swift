// SPDX-License-Identifier: Apache-2.0

/// The reason, as a sentence for people, why an item cannot be changed as its event was.
struct InboundRefusal: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

extension String {
    /// Returns the text without a prefix; without it, the text is unchanged.
    func removingPrefix(_ beginning: String) -> String {
        hasPrefix(beginning) ? String(dropFirst(beginning.count)) : self
    }
}
