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
        case "Browser": return words["programBrowser"]
        case "Command line": return words["programCommandLine"]
        case "Other": return words["programOther"]
        default:
            // A name of two programs has the English word between them.
            let parts = name.pieces(separatedBy: " ")
            guard let or = parts.firstIndex(where: { $0 == "or" }) else { return name }
            return words(
                "programEither",
                ["first": parts[..<or].joined(separator: " "), "second": parts[(or + 1)...].joined(separator: " ")])
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
