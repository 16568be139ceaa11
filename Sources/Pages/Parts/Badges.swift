// SPDX-License-Identifier: Apache-2.0

enum BadgeTone: String, CaseIterable {
    case good, busy, warning, bad, off
}

extension RenderContext {
    /// A state as a word and a shape; the colour adds no further information.
    func badge(_ tone: BadgeTone, _ key: String, _ inserts: [String: String] = [:]) -> Node {
        ["tone": .text(tone.rawValue), "label": .text(words(key, inserts)), tone.rawValue: true]
    }

    /// A problem that needs a person's attention, with its meaning and the next step.
    func alert(_ tone: BadgeTone, _ text: Node, action: Node = .nothing, act: Node = .nothing) -> Node {
        ["tone": .text(tone.rawValue), tone.rawValue: true, "text": text, "action": action, "act": act]
    }

    /// The name that the API gives a program that reads, in the reader's language; names of products stay.
    func program(_ name: String) -> String {
        switch name {
        case "Browser": words["programBrowser"]
        case "Command line": words["programCommandLine"]
        case "Other": words["programOther"]
        default: name
        }
    }

    func emptyState(_ title: String, _ text: String, action: Node = .nothing) -> Node {
        ["title": .text(words[title]), "text": .text(words(text, ["app": frame.brand.name])), "action": action]
    }

    /// A row of steps with the current one; those before it are done.
    func stepper(_ keys: [String], at now: Int) -> Node {
        .map([
            "label": .text(
                words("stepsLabel", ["number": String(min(now + 1, keys.count)), "of": String(keys.count)])),
            "steps": .list(
                keys.enumerated().map { index, key in
                    [
                        "number": .number(index + 1), "label": .text(words[key]), "isDone": .flag(index < now),
                        "isNow": .flag(index == now),
                    ]
                }),
        ])
    }
}
