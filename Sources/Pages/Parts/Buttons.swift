// SPDX-License-Identifier: Apache-2.0

enum ButtonStyle: String, CaseIterable {
    case primary, plain, quiet, danger
}

extension RenderContext {
    /// A form with one button.
    ///
    /// - Parameter about: the object of the button, appended to its label for people who hear it out of context.
    func act(
        _ key: String, _ path: String, _ values: [String: String] = [:], style: ButtonStyle = .plain,
        about: String? = nil, _ inserts: [String: String] = [:]
    ) -> Node {
        [
            "action": .text(href(path)), "label": .text(words(key, inserts)), "style": .text(style.rawValue),
            "about": .text(about), "hidden": hidden(values),
        ]
    }

    func hidden(_ values: [String: String]) -> Node {
        .list(values.sorted { $0.key < $1.key }.map { ["name": .text($0.key), "value": .text($0.value)] })
    }

    /// A link that looks like a button.
    func linkButton(
        _ key: String, _ path: String, style: ButtonStyle = .plain, about: String? = nil,
        _ inserts: [String: String] = [:]
    ) -> Node {
        [
            "href": .text(path.safeAddress.map { $0.hasPrefix("/") ? href($0) : $0 } ?? "#"),
            "label": .text(words(key, inserts)), "style": .text(style.rawValue), "about": .text(about),
        ]
    }

    /// A button that asks for confirmation: a link to the page with the question, which a script opens at once.
    func question(_ id: String, _ key: String, style: ButtonStyle = .plain, about: String? = nil) -> Node {
        [
            "href": .text("?ask=\(id.pathSegment)#\(id.pathSegment)"), "dialog": .text(id), "label": .text(words[key]),
            "style": .text(style.rawValue), "about": .text(about),
        ]
    }

    /// The question as a dialog, which is open when the page's query asks for it.
    func dialog(_ id: String, _ title: String, _ text: [String], _ form: Node) -> Node {
        var form = form
        if case .map(var own) = form {
            own["close"] = .text(href(frame.path))
            form = .map(own)
        }
        return [
            "id": .text(id), "title": .text(title), "texts": .list(text.map { .text($0) }), "form": form,
            "isOpen": .flag(frame.ask == id),
        ]
    }
}
