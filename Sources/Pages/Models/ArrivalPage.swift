// SPDX-License-Identifier: Apache-2.0

/// `/app/connected`: what came of a sign-in at a provider that an app began.
public struct ArrivalPage: Page {
    public enum State: Sendable {
        /// - Parameter code: what the person enters where they began.
        case pending(code: String)
        case denied, failed
    }

    public var state: State

    public init(state: State) { self.state = state }

    public var showsSecret: Bool { if case .pending = state { true } else { false } }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let content: [String: Node]
        var scripts: [String] = []
        let title: String
        switch state {
        case .pending(let code):
            title = words["arrivalPendingTitle"]
            content = ["line": words.sentence("arrivalPending", [:]), "code": .text(code)]
            scripts = ["copy"]
        case .denied:
            title = words["arrivalOverTitle"]
            content = ["line": words.sentence("problem_denied", [:])]
        case .failed:
            title = words["arrivalOverTitle"]
            content = ["line": words.sentence("problem_signInFailed", [:])]
        }
        return PageContent(template: "arrival", title: title, section: .nowhere, content: content, scripts: scripts)
    }
}
