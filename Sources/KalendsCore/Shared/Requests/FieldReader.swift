// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// Reads the members of a JSON object and collects all faults, so that one response reports them all.
package struct FieldReader {
    private let members: [ByteString: JSONValue]
    private let pointer: String
    /// The names that were read, in that order. An object has few fields, so that comparing their names is quicker
    /// than hashing each of them.
    private var asked: [String] = []
    package private(set) var faults = FaultList()

    /// - Parameter pointer: the object's place in the document; empty for the document itself.
    package init(_ value: JSONValue, at pointer: String = "") {
        self.pointer = pointer
        if case .object(let members) = value {
            self.members = members
        } else {
            self.members = [:]
            faults.append(Fault(pointer: pointer, code: .wrongType, message: "This must be an object."))
        }
    }

    package mutating func fault(_ name: String, code: Fault.Code = .invalid, _ message: String) {
        faults.append(Fault(pointer: path(name), code: code, message: message))
    }

    /// Adds faults that were found elsewhere.
    package mutating func add(_ others: FaultList) { faults += others }

    package func has(_ name: String) -> Bool { members[name].map { $0 != .null } ?? false }

    /// Returns a member that was already read, as it was sent.
    package func given(_ name: String) -> JSONValue? { wasAsked(name) ? members[name] : nil }

    /// Whether a member is given as null.
    package mutating func isNull(_ name: String) -> Bool {
        asked.append(name)
        return members[name] == .null
    }

    /// Returns the raw member; null counts as missing.
    package mutating func value(_ name: String) -> JSONValue? {
        asked.append(name)
        guard let value = members[name], value != .null else { return nil }
        guard !value.hasLongRunOfMarks else {
            fault(name, code: .tooManyMarks, CombiningMarks.rule)
            return nil
        }
        return value
    }

    /// Reads text that a calendar can hold, with uniform line breaks; control characters and long runs of combining
    /// marks are faults.
    ///
    /// - Parameters:
    ///   - maximum: the most characters.
    ///   - maximumBytes: the most bytes in UTF-8, for texts with a limit in bytes.
    package mutating func text(
        _ name: String, isRequired: Bool = false, maximum: Int = TextLength.line, maximumBytes: Int = .max
    ) -> String? {
        guard let value = present(name, isRequired) else { return nil }
        guard case .string(let raw) = value else { return wrong(name, .wrongType, "This must be text.") }
        if raw.unicodeScalars.contains(where: Self.isControl) {
            return wrong(
                name, .unwantedCharacter,
                "This must not contain control characters other than tabs and line breaks.")
        }
        let text = Self.cleaned(raw)
        if isRequired, text.allSatisfy(\.isWhitespace) { return wrong(name, .empty, "This must not be empty.") }
        if text.unicodeScalars.count > maximum {
            return wrong(name, .tooLong, "This is longer than \(maximum) characters.")
        }
        if text.utf8.count > maximumBytes {
            return wrong(name, .tooLong, "This is longer than \(maximumBytes) bytes in UTF-8.")
        }
        return text.isEmpty ? nil : text
    }

    package mutating func integer(_ name: String, in range: ClosedRange<Int>, isRequired: Bool = false) -> Int? {
        guard let value = present(name, isRequired) else { return nil }
        let message = "This must be a whole number from \(range.lowerBound) to \(range.upperBound)."
        // A whole number that no integer holds is too far out, and not of another type.
        if case .number(let number) = value, number == number.rounded() { return wrong(name, .outOfRange, message) }
        guard case .integer(let number) = value else { return wrong(name, .wrongType, message) }
        guard range.contains(number) else { return wrong(name, .outOfRange, message) }
        return number
    }

    package mutating func bool(_ name: String) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let flag) = value else { return wrong(name, .wrongType, "This must be true or false.") }
        return flag
    }

    package mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Choice.Type, isRequired: Bool = false
    ) -> Choice? where Choice.RawValue == String {
        choice(name, among: Choice.allCases.map { ($0.rawValue, $0) }, isRequired)
    }

    /// Reads a kind of items, which is named by its collection.
    package mutating func kind(_ name: String, _ kinds: ItemKinds) -> (any ItemContent.Type)? {
        choice(name, among: kinds.list.map { ($0.collection.rawValue, $0) }, true)
    }

    private mutating func choice<Choice>(
        _ name: String, among choices: [(word: String, Choice)], _ isRequired: Bool
    ) -> Choice? {
        guard let value = present(name, isRequired) else { return nil }
        guard case .string(let text) = value, let choice = choices.first(where: { $0.word.isSameText(as: text) }) else {
            return wrong(
                name, .notAChoice, "This must be one of \(choices.map(\.word).joined(separator: ", ")).")
        }
        return choice.1
    }

    package mutating func instant(_ name: String, isRequired: Bool = false) -> Instant? {
        guard let value = present(name, isRequired) else { return nil }
        guard case .string(let text) = value, let instant = Instant(rfc3339: text) else {
            return wrong(
                name, .invalidTime,
                "This must be a time as RFC 3339 writes it, with an offset: 2026-01-21T09:00:00-08:00.")
        }
        guard Self.years.contains(instant.utc.date.year) else {
            return wrong(
                name, .outOfRange, "The year must be from \(Self.years.lowerBound) to \(Self.years.upperBound).")
        }
        return instant
    }

    mutating func date(_ name: String, isRequired: Bool = false) -> CivilDate? {
        guard let value = present(name, isRequired) else { return nil }
        guard case .string(let text) = value, let date = CivilDate(iso: text) else {
            return wrong(name, .invalidDate, "This must be a day that exists, as YYYY-MM-DD.")
        }
        guard Self.years.contains(date.year) else {
            return wrong(
                name, .outOfRange, "The year must be from \(Self.years.lowerBound) to \(Self.years.upperBound).")
        }
        return date
    }

    package mutating func timeZone(_ name: String, isRequired: Bool = false) -> TimeZoneReference? {
        guard let value = present(name, isRequired) else { return nil }
        guard case .string(let text) = value, let zone = TimeZoneReference(text) else {
            return wrong(name, .invalidTimeZone, "This must be a time zone's IANA name, such as America/Los_Angeles.")
        }
        return zone
    }

    /// Reads the id of another object, by the rules for ids.
    package mutating func identifier(_ name: String, isRequired: Bool = false) -> String? {
        guard let value = present(name, isRequired) else { return nil }
        guard case .string(let text) = value, Identifier.isValid(text) else {
            return wrong(name, .invalidID, Identifier.rule)
        }
        return text
    }

    /// Ends the reading: members that were not read are faults, except those in `ignored`.
    package mutating func finish(ignoring ignored: Set<ByteString> = []) {
        let unknown = members.keys.filter { !wasAsked($0.string) && !ignored.contains($0) }.sorted()
        guard !unknown.isEmpty else { return }
        let names = Set<ByteString>(asked).subtracting(ignored).sortedTexts()
        let known = asked.isEmpty ? "No name is known." : "The known names are \(names.joined(separator: ", "))."
        for name in unknown.prefix(FaultList.most).map(\.string) {
            fault(name, code: .unknownField, "This field is unknown. \(known)")
        }
        faults.leaveOut(max(0, unknown.count - FaultList.most))
    }

    /// Ends the reading as `finish` does, and throws as `check` does.
    package mutating func end() throws {
        finish()
        try check()
    }

    /// Throws 422 with all faults, if there are any.
    package func check() throws {
        if !faults.isEmpty { throw Refusal.invalid(faults) }
    }

    /// The maximum size in bytes of notes.
    package static let longestNotes = 65_536

    /// The years that calendars can show; there are no zones for earlier years and no rules for later ones.
    package static let years = 1900...2500

    mutating func present(_ name: String, _ isRequired: Bool) -> JSONValue? {
        let value = value(name)
        if value == nil, isRequired, !has(name) { fault(name, code: .required, "This is required.") }
        return value
    }

    private mutating func wrong<Value>(_ name: String, _ code: Fault.Code, _ message: String) -> Value? {
        fault(name, code: code, message)
        return nil
    }

    private func wasAsked(_ name: String) -> Bool { asked.contains { $0.isSameText(as: name) } }

    private func path(_ name: String) -> String {
        // A slash in `name` leads to an element; only names from outside need RFC 6901's escapes.
        let known = wasAsked(name) || wasAsked(String(name.pieces(separatedBy: "/").first ?? ""))
        if known { return pointer + "/" + name }
        return pointer + JSONPointer.step(name)
    }

    static func cleaned(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnwanted) else {
            return text
        }
        var scalars = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 13, 0x2028, 0x2029: scalars.append("\n")
            case 10: if previous.value != 13 { scalars.append("\n") }
            default: if scalar == "\t" || !isUnwanted(scalar) { scalars.append(scalar) }
            }
            previous = scalar
        }
        return String(scalars)
    }

    /// Whether a scalar is a control character (Unicode's Cc) that is neither a tab nor part of a line break.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 9, 10, 13: false
        case 0..<32, 0x7F..<0xA0: true
        default: false
        }
    }

    /// Whether a scalar is a control, a separator that some readers take for a line end, a byte order mark or a
    /// non-character.
    private static func isUnwanted(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<32, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }
}

/// The ids that host applications choose: 1 to 128 unreserved characters of URLs, or colons.
package enum Identifier {
    package static let rule = "An id is 1 to 128 characters of A-Z a-z 0-9 . _ ~ : -"

    package static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...128).contains(bytes.count)
            && bytes.allSatisfy {
                ($0 | 0x20) >= 97 && ($0 | 0x20) <= 122 || $0 >= 48 && $0 <= 57 || [46, 95, 126, 58, 45].contains($0)
            }
    }
}
