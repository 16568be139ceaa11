// SPDX-License-Identifier: Apache-2.0

/// A JSON object with settings under their names.
struct SettingsFile {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var values: [String: String] = [:]
    /// What is of the wrong type or of an unknown name, a sentence each.
    private(set) var faults: [String] = []

    init(path: String) throws(Failure) {
        let bytes: [UInt8]
        do {
            bytes = try InputFile(path, limit: 1 << 20).whole()
        } catch {
            throw Failure(description: "The file of settings cannot be read: \(publicText(error))")
        }
        guard let document = try? JSONValue(parsing: bytes), let members = document.object else {
            throw Failure(description: "\(path) cannot be read as a JSON object with settings.")
        }
        let known = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.name, $0) })
        var unknown = 0
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            let name = key.string
            guard let setting = known[name] else {
                unknown += 1
                if unknown <= Self.mostUnknown {
                    faults.append("\(path): " + SettingValues.unknown(printable(name), among: Setting.all.map(\.name)))
                }
                continue
            }
            if value == .null { continue }
            if let text = Self.text(value, as: setting.kind) {
                values[name] = text
            } else {
                faults.append("\(path): \(name): must be \(Self.words(for: setting.kind)).")
            }
        }
        if unknown > Self.mostUnknown {
            faults.append("\(path): \(unknown - Self.mostUnknown) further names are not settings.")
        }
    }

    /// How many unknown names are reported one by one, each with the setting that may be meant.
    private static let mostUnknown = 5

    /// Nil when the value is of another type.
    private static func text(_ value: JSONValue, as kind: Setting.Kind) -> String? {
        switch (kind, value) {
        case (.text, .string(let text)), (.list, .string(let text)), (.choice, .string(let text)): text
        case (.number, .integer(let number)): String(number)
        case (.bool, .bool(let isTrue)): isTrue ? "true" : "false"
        case (.list, .array(let items)):
            items.allSatisfy { $0.string != nil } ? items.compactMap(\.string).joined(separator: ",") : nil
        default: nil
        }
    }

    private static func words(for kind: Setting.Kind) -> String {
        switch kind {
        case .text: "a text"
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let known): "one of \(known.joined(separator: ", "))"
        case .bool: "true or false"
        case .list: "a list of texts, or a text with commas"
        }
    }
}
