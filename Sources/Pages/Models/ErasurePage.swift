// SPDX-License-Identifier: Apache-2.0

/// The question before a person is erased, and what stays afterwards.
public struct ErasurePage: Page {
    /// What stays, and how many rows of it; 0 for what is not counted.
    public struct Remnant: Sendable {
        public var what: String
        public var rows: Int

        public init(what: String, rows: Int) { (self.what, self.rows) = (what, rows) }
    }

    public enum State: Sendable {
        /// The operator is asked about the person with this id.
        case ask(user: String)
        case done([Remnant])
        /// Nothing opens anything any more, and the rest is being removed.
        case underWay([Remnant])
    }

    public var state: State

    public init(state: State) { self.state = state }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        var content: [String: Node] = [:]
        let title: String
        switch state {
        case .ask(let user):
            title = words("erasureAsk", ["user": user])
            content["texts"] = .list([.text(words["erasureAskOwners"]), .text(words["adminEraseText"])])
            content["act"] = paper.act(
                "actErase", "/app/admin/erase", ["user": user, "confirmed": user], style: .danger, about: user)
        case .done(let stays):
            title = words["erasureDone"]
            content["texts"] = .list([.text(words["erasureDoneText"])])
            content["stays"] = facts(stays, paper)
        case .underWay(let stays):
            title = words["erasureUnderWay"]
            content["texts"] = .list([.text(words["erasureUnderWayText"])])
            content["stays"] = facts(stays, paper)
        }
        return PageContent(template: "erasure", title: title, section: .nowhere, content: content)
    }

    private func facts(_ stays: [Remnant], _ paper: RenderContext) -> Node {
        let words = paper.words
        let rows: [Node] = stays.map { own in
            let name = words["erasureWhat_\(own.what)"]
            return [
                "label": .text(own.rows > 0 ? "\(name) (\(own.rows))" : name),
                "text": .text(words["erasureWhy_\(own.what)"]),
            ]
        }
        return ["facts": .rows(rows)]
    }
}
