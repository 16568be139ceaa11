// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Pages

/// The form for a feed's or a connection's contents, made from its options: its fields, and what was typed into them as
/// a body of the API.
struct ContentForm<Options: ContentOptions>: Sendable {
    let kinds: ItemKinds
    /// The group whose form it is; nil for a form that sets all options.
    let group: ContentGroup?

    init(kinds: ItemKinds, group: ContentGroup? = nil) { (self.kinds, self.group) = (kinds, group) }

    /// The form that somebody has sent.
    init(_ visit: PageVisit) {
        self.init(kinds: visit.services.settings.kinds, group: visit.form["part"].flatMap { ContentGroup(text: $0) })
    }

    /// The form's field for each field of the API that has another name.
    var renamed: [(own: String, field: String)] { [("patientIds", "patients")] }

    /// The names of the form's fields.
    var names: [String] { (["label", "kinds", "patients"] + options.map(\.name)).filter(has) }

    private func has(_ field: String) -> Bool { group == nil || ContentGroup(of: field) == group }

    /// The boxes among the kinds, with the option that each of them sets.
    private var boxes: [(kind: EntryKind, option: String)] {
        kinds.list.map { (EntryKind($0), Options.option(for: $0)) } + beside
    }

    private var beside: [(kind: EntryKind, option: String)] {
        Options.parts.compactMap { part in
            guard case .amongKinds(let word) = part.place, let kind = EntryKind(text: word) else { return nil }
            return part.output.first.map { (kind, $0.name) }
        }
    }

    /// The options that have a field of their own, except that for patients.
    private var options: [(name: String, kind: ContentField.Kind)] {
        Options.listed.compactMap { field in
            let json = field.schema.json
            if let words = json["enum"]?.array { return (field.name, .choice(words.compactMap(\.string))) }
            if let least = json["minimum"]?.integer, let most = json["maximum"]?.integer {
                return (field.name, .number(least...most))
            }
            if json["type"] == "array" { return (field.name, .lines) }
            return json["type"] == "boolean" ? (field.name, .check) : nil
        }
    }

    /// The kinds of entries that are shown.
    func shown(by options: Options) -> Set<EntryKind> {
        let json = options.json(kinds)
        return Set(boxes.filter { json[$0.option] == true }.map(\.kind))
    }

    func fields(_ content: Options, patients: [Named]) -> [ContentField] {
        var json = content.json(kinds).object ?? [:]
        // The older option for minimal details shows at most titles.
        if json["showMinimalDetails"] == true, json["detail"] == "full" { json["detail"] = "titles" }
        let offered = kinds.list.map { EntryKind($0) }.filter { $0 != .imported } + beside.map(\.kind)
        let shown = shown(by: content)
        let chosen = (json["patientIds"]?.array ?? []).compactMap(\.string)
        // One who has left the circle stays chosen: no choice at all would show everybody.
        let gone = chosen.filter { id in !patients.contains { $0.id.isSameText(as: id) } }
        let patients = patients + gone.map { Named(id: $0, name: $0) }
        return [ContentField("kinds", .kinds(offered), shown.map(\.rawValue))]
            + (patients.isEmpty ? [] : [ContentField("patients", .patients(patients), chosen)])
            + options.map { name, kind in
                switch json[ByteString(name)] {
                case .bool(let isOn): ContentField(name, kind, isOn ? ["true"] : [])
                case .integer(let number): ContentField(name, kind, [String(number)])
                case .array(let texts):
                    ContentField(name, kind, [texts.compactMap(\.string).joined(separator: "\n")])
                case let value: ContentField(name, kind, [value?.string ?? ""])
                }
            }
    }

    /// The body for a form, with `config` and the label as it was typed; an empty label becomes null.
    func body(_ form: PageForm) -> JSONValue {
        var members: [ByteString: JSONValue] = [:]
        // The level of detail includes what the older option for minimal details controls.
        if has("detail") { members["showMinimalDetails"] = false }
        if has("kinds") {
            let chosen = Set(form.all("kinds").compactMap { EntryKind(text: $0) })
            for (kind, option) in boxes { members[ByteString(option)] = .bool(chosen.contains(kind)) }
        }
        if has("patients") {
            let patients = form.all("patients")
            members["patientIds"] = patients.isEmpty ? .null : .array(patients.map(JSONValue.string))
        }
        for (name, kind) in options where has(name) {
            members[ByteString(name)] =
                switch kind {
                case .check: .bool(form.isOn(name))
                case .number: form[name].map(JSONValue.typed)
                case .lines: form[name].map { JSONValue.array(Self.lines($0)) }
                default: form[name].map(JSONValue.string)
                }
        }
        let label = form["label"].map { $0.isEmpty ? JSONValue.null : .string($0) }
        return .object(["config": .object(members)].merging(label.map { ["label": $0] } ?? [:]) { $1 })
    }

    /// The texts that were typed into lines; nobody minds blanks and commas between them.
    private static func lines(_ text: String) -> [JSONValue] {
        text.utf8.split { [0x0A, 0x0D, 0x20, 0x2C].contains($0) }.map { .string(String(Substring($0))) }
    }
}
