// SPDX-License-Identifier: Apache-2.0

/// One option of a list or of a row of buttons.
struct Choice {
    var value: String
    var label: String
    var hint: String?
}

/// A field of a form.
struct Field {
    enum Kind {
        case line(type: String, autocomplete: String)
        case area
        case choice([Choice])
        case radio([Choice])
        case checks([Choice])
        case check
        case file(accept: String)
    }

    var name: String
    var label: String
    var kind: Kind
    var value: String?
    var values: [String]
    var hint: String?
    var isRequired: Bool
    var most: Int?
    var least: Int?

    init(
        _ name: String, _ label: String, _ kind: Kind, value: String? = nil, values: [String] = [],
        hint: String? = nil, isRequired: Bool = false, least: Int? = nil, most: Int? = nil
    ) {
        self.name = name
        self.label = label
        self.kind = kind
        self.value = value
        self.values = values
        self.hint = hint
        self.isRequired = isRequired
        self.least = least
        self.most = most
    }

    static func text(autocomplete: String = "off") -> Kind { .line(type: "text", autocomplete: autocomplete) }
    static let number = Kind.line(type: "number", autocomplete: "off")
    static let date = Kind.line(type: "date", autocomplete: "off")
    static let time = Kind.line(type: "time", autocomplete: "off")
    static let address = Kind.line(type: "url", autocomplete: "off")
}

extension RenderContext {
    /// A field with its label, hint and error, for the template `field`.
    ///
    /// - Parameter form: the form's name, from which the ids of its fields are made.
    func field(_ field: Field, in form: String, _ draft: Draft = Draft()) -> Node {
        let id = "\(form)-\(field.name)"
        let value = draft.values[field.name] ?? field.value
        let problem = draft.problems.first { $0.field == field.name }.map { problemText($0) }
        let isGroup =
            switch field.kind {
            case .radio, .checks: true
            default: false
            }
        var node: [String: Node] = [
            "id": .text(id), "name": .text(field.name), "label": .text(field.label), "value": .text(value),
            "hint": .text(field.hint), "error": .text(problem), "isRequired": .flag(field.isRequired && !isGroup),
            "most": field.most.map { .number($0) } ?? .nothing, "least": field.least.map { .number($0) } ?? .nothing,
        ]
        let described = (field.hint == nil ? [] : ["\(id)-hint"]) + (problem == nil ? [] : ["\(id)-error"])
        node["described"] = .text(described.joined(separator: " "))
        switch field.kind {
        case .line(let type, let autocomplete):
            node["isLine"] = true
            node["type"] = .text(type)
            node["autocomplete"] = .text(autocomplete)
            node["isNumber"] = .flag(type == "number")
            // A typed password is never sent back.
            if type == "password" { node["value"] = Node.nothing }
        case .area: node["isArea"] = true
        case .choice(let choices):
            node["isChoice"] = true
            node["options"] = options(choices, id, field.name, [value ?? ""])
        case .radio(let choices):
            node["isRadio"] = true
            node["options"] = options(choices, id, field.name, [value ?? ""])
        case .checks(let choices):
            // Typed values are one text, separated by commas.
            let typed = draft.values[field.name]?.utf8.split(separator: UInt8(ascii: ","))
                .map { String(decoding: $0, as: UTF8.self) }
            node["isChecks"] = true
            node["options"] = options(choices, id, field.name, typed ?? field.values)
        case .check:
            node["isCheck"] = true
            node["isOn"] = .flag(value == "true")
        case .file(let accept):
            node["isFile"] = true
            node["accept"] = .text(accept)
        }
        return .map(node)
    }

    private func options(_ choices: [Choice], _ id: String, _ name: String, _ values: [String]) -> Node {
        .list(
            choices.enumerated().map { index, choice in
                [
                    "id": .text("\(id)-\(index)"), "name": .text(name), "value": .text(choice.value),
                    "label": .text(choice.label), "hint": .text(choice.hint),
                    "isOn": .flag(values.contains(choice.value)),
                ]
            })
    }

    /// A form with its fields, for the template `form`.
    ///
    /// - Parameter username: the user whose password is entered in the form, for password managers.
    func form(
        _ name: String, _ path: String, _ fields: [Field], submit: String, style: ButtonStyle = .primary,
        draft: Draft = Draft(), values: [String: String] = [:], cancel: Node = .nothing, isUpload: Bool = false,
        isSearch: Bool = false, behaviour: String? = nil, about: String? = nil, username: String? = nil
    ) -> Node {
        [
            "name": .text(name), "action": .text(href(path)), "hidden": hidden(values), "submit": .text(words[submit]),
            "style": .text(style.rawValue), "isUpload": .flag(isUpload), "isSearch": .flag(isSearch), "cancel": cancel,
            "behaviour": .text(behaviour), "username": .text(username), "about": .text(about),
            "fields": .list(fields.map { field($0, in: name, draft) }),
        ]
    }

    /// The problems for the top of the page, each with a link to its field.
    func problems(_ draft: Draft, in form: String, _ fields: [Field] = []) -> [Node] {
        draft.problems.map { problem in
            let label = fields.first { $0.name == problem.field }?.label
            return [
                "text": .text(problemText(problem)), "label": .text(label),
                "href": .text(label == nil ? nil : "#\(form)-\(problem.field)"),
            ]
        }
    }

    func problemText(_ problem: Draft.Problem) -> String {
        words("problem_\(problem.code.rawValue)", ["detail": problem.detail ?? "", "app": frame.brand.name])
    }
}
