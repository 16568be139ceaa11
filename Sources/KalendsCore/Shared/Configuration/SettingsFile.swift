// SPDX-License-Identifier: Apache-2.0

/// A file of settings by name: lines of `name = value`, or a JSON object.
struct SettingsFile {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var values: [String: String] = [:]
    /// One sentence for each value of the wrong type and for each unknown name.
    private(set) var faults: [String] = []

    init(path: String) throws(Failure) {
        let bytes: [UInt8]
        do {
            bytes = try InputFile(path, limit: 1 << 20).whole()
        } catch {
            throw Failure(description: "The file of settings cannot be read: \(publicText(error))")
        }
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "{") { try readObject(bytes, path) } else { try readLines(bytes, path) }
    }

    private static let known = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.name, $0) })

    /// Splits each line that does not begin with `#` at its first `=`, and trims the blanks around both sides;
    /// quotation marks have no meaning.
    private mutating func readLines(_ bytes: [UInt8], _ path: String) throws(Failure) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(description: "\(path) is not text in UTF-8.")
        }
        var wrong: [String] = []
        for (index, line) in text.pieces(separatedBy: "\n", omittingEmpty: false).enumerated() {
            let line = line.utf8.last == UInt8(ascii: "\r") ? Substring(line.utf8.dropLast()) : line
            let content = line.withoutOuterBlanks
            guard let first = content.utf8.first, first != UInt8(ascii: "#") else { continue }
            let location = "\(path), line \(index + 1)"
            let sides = content.pieces(separatedBy: "=", maxSplits: 1, omittingEmpty: false)
            guard sides.count == 2 else {
                wrong.append("\(location): must be name = value, or begin with # where it is a comment.")
                continue
            }
            let name = String(sides[0].withoutOuterBlanks)
            guard Self.known[name] != nil else {
                // Finding the nearest name takes time for each of them.
                let isNamed = wrong.count < Self.mostUnknown
                wrong.append(
                    isNamed
                        ? "\(location): " + SettingValues.unknown(printable(name), among: Setting.all.map(\.name)) : "")
                continue
            }
            if values.updateValue(String(sides[1].withoutOuterBlanks), forKey: name) != nil {
                wrong.append("\(location): \(name) is set for the second time.")
            }
        }
        faults += wrong.prefix(Self.mostUnknown)
        if wrong.count > Self.mostUnknown {
            faults.append("\(path): \(wrong.count - Self.mostUnknown) further lines are not valid.")
        }
    }

    private mutating func readObject(_ bytes: [UInt8], _ path: String) throws(Failure) {
        guard let document = try? JSONValue(parsing: bytes), let members = document.object else {
            throw Failure(description: "\(path) cannot be read as a JSON object with settings.")
        }
        var unknown = 0
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            let name = key.string
            guard let setting = Self.known[name] else {
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

    /// How many unknown names are reported individually, each with the setting that was probably meant.
    private static let mostUnknown = 5

    /// Returns nil if the value has another type.
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
