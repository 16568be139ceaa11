// SPDX-License-Identifier: Apache-2.0

extension ImportPage {
    /// Lists earlier imports, so that people can find them again and undo them.
    func earlierTable(_ paper: RenderContext) -> Node {
        let words = paper.words
        return paper.table(
            words["importEarlier"], ["columnWhen", "columnWhatHappened", "columnStatus", "columnActions"],
            earlier.map { one in
                let tone: BadgeTone =
                    switch one.state {
                    case .underWay: .busy
                    case .previewed: .warning
                    case .committed: .good
                    case .undone: .off
                    case .failed: .bad
                    }
                let when = paper.times.relative(one.at)
                return [
                    .link(when, path(paper, one.id)), .text(text(one.counts, words)),
                    .badge(paper.badge(tone, "importState_" + one.state.rawValue)),
                    one.canUndo
                        ? .acts([paper.act("actUndoImport", path(paper, one.id) + "/undo", about: when)]) : .empty,
                ]
            }, isHidden: true)
    }

    /// A text such as "10 new, 2 changed".
    private func text(_ counts: Counts, _ words: Words) -> String {
        let all = [
            ("created", counts.created), ("updated", counts.updated), ("unchanged", counts.unchanged),
            ("skipped", counts.skipped),
        ]
        let parts = all.filter { $0.1 > 0 }.map {
            "\(words.number($0.1)) \(words("importCount_\($0.0)", count: $0.1))"
        }
        return parts.isEmpty ? words["importNothing"] : parts.joined(separator: ", ")
    }
}
