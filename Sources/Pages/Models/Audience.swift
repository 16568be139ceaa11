// SPDX-License-Identifier: Apache-2.0

import Calendar

/// Whom a new feed is for, which suggests what it shows and when it ends.
public enum Audience: String, Sendable, CaseIterable {
    case me, home, helper, work
    case everybody = "public"

    /// After how many days a feed for them should end; nil for a feed that stays.
    public var days: Int? {
        switch self {
        case .me, .home: nil
        case .helper: 90
        case .work: 365
        case .everybody: 30
        }
    }
}

extension SyncPage {
    /// A choice of the feed's audience: each is a link to the same page with what is suggested.
    func audiences(_ paper: RenderContext) -> Node {
        .list(
            Audience.allCases.map { one in
                [
                    "label": .text(paper.words["audience_" + one.rawValue]), "isHere": .flag(one == audience),
                    "href": .text(
                        paper.href(paper.circlePath("/calendar-sync?ask=create&for=\(one.rawValue)#create"))),
                ]
            })
    }

    /// One sentence of what somebody with the feed's address will see, from what the form says.
    func sees(_ paper: RenderContext) -> Node {
        guard let audience else { return .nothing }
        let words = paper.words
        func values(_ name: String) -> [String] {
            guard let typed = draft.values[name] else { return content.first { $0.name == name }?.values ?? [] }
            return typed.pieces(separatedBy: ",").map { String($0) }
        }
        let kinds = values("kinds").compactMap { EntryKind(text: $0) }
        var patients: [String] = []
        for case .patients(let all) in content.map(\.kind) {
            let chosen = values("patients")
            patients = all.filter { chosen.contains($0.id) }.map(\.name)
        }
        let detail = values("detail").first ?? "full"
        let end = (draft.values["until"] ?? until?.description).flatMap { CivilDate(iso: $0) }
        return words.sentence(
            "seen_" + (["titles", "busy"].contains(detail) ? detail : "full"),
            [
                "who": .text(words["seenBy_" + audience.rawValue]),
                "kinds": .text(
                    kinds.isEmpty
                        ? words["seenNothing"]
                        : EntryKind.allCases.filter { one in kinds.contains { $0 == one } }.map { words[$0.words] }
                            .joined(separator: ", ")),
                "patients": .name(patients.isEmpty ? words["seenOfAll"] : patients.joined(separator: ", ")),
                "end": .text(end.map { words("seenUntil", ["day": paper.times.date($0)]) } ?? words["seenOpen"]),
            ])
    }

    /// Who reads which feed, and what they see.
    func readers(_ paper: RenderContext) -> Node {
        let (words, times) = (paper.words, paper.times)
        let rows = feeds.flatMap { feed -> [[Cell]] in
            guard case .live = feed.state else { return [] }
            return feed.readers.map { reader in
                [
                    .name(paper.program(reader.name)), .link(paper.title(feed), feed.path(paper)),
                    .text(words["content_detail_" + feed.detail]), .time(times.moment(reader.seenAt)),
                    .link(words["actRevoke"], feed.path(paper) + "?ask=revoke#revoke"),
                ]
            }
        }
        return rows.isEmpty
            ? .nothing
            : paper.table(
                words["readersTitle"],
                ["columnApp", "healthFeed", "content_detail", "columnLastVisit", "columnActions"], rows,
                isHidden: true)
    }
}
