// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension PersonalEdit {
    /// How a field that is missing or null is read.
    package enum Method: Sendable {
        /// For a device: both leave the stored value, and unknown fields are ignored.
        case device
        /// PUT: both clear it.
        case put
        /// PATCH: a missing field leaves the stored value, and null clears it.
        case patch
    }

    /// Reads the content of an event; its faults are added to `fields`.
    ///
    /// - Parameter needsAll: whether title and date are required.
    package init(_ body: JSONValue, _ fields: inout FieldReader, at pointer: String, _ method: Method, needsAll: Bool) {
        self.init()
        let reader = EditReader(body: body, method: method, pointer: pointer)
        title = reader.title(&fields, isRequired: needsAll)
        date = fields.date("date", isRequired: needsAll)
        if method == .patch, body["date"] == .null { fields.fault("date", code: .required, "This is required.") }
        startTime = reader.time("startTime", &fields)
        endTime = reader.time("endTime", &fields)
        endDate = reader.edit("endDate", &fields) { $0.date("endDate") }
        isAllDay = fields.bool("allDay")
        timeZone = reader.edit("timeZone", &fields) { $0.timeZone("timeZone")?.identifier }
        description = reader.edit("description", &fields) {
            $0.text("description", maximum: .max, maximumBytes: FieldReader.longestNotes)
        }
        location = reader.edit("location", &fields) { $0.text("location") }
        recurrence = reader.recurrence(&fields)
    }
}

/// Reads fields that may be cleared.
private struct EditReader {
    let body: JSONValue
    let method: PersonalEdit.Method
    let pointer: String

    /// Returns the edit for a missing, null or empty member; nil when there is a value to read.
    private func edit<Value>(ofNothing name: String) -> Edit<Value>? {
        switch body[name] {
        case nil: method == .put ? .clear : .keep
        case .null: method == .device ? .keep : .clear
        case .string(""): .clear
        default: nil
        }
    }

    func edit<Value>(
        _ name: String, _ fields: inout FieldReader, _ read: (inout FieldReader) -> Value?
    ) -> Edit<Value> {
        if let nothing: Edit<Value> = edit(ofNothing: name) {
            // Reading the member marks its name as known.
            _ = fields.value(name)
            return nothing
        }
        let before = fields.faults.total
        if let value = read(&fields) { return .set(value) }
        return fields.faults.total == before ? .clear : .keep
    }

    func title(_ fields: inout FieldReader, isRequired: Bool) -> String? {
        let before = fields.faults.total
        let text = fields.text("title")
        guard fields.has("title") else {
            if isRequired || method == .patch && body["title"] != nil {
                fields.fault("title", code: .required, "This is required.")
            }
            return nil
        }
        if fields.faults.total > before { return nil }
        return text.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } ?? PersonalEdit.untitled
    }

    func time(_ name: String, _ fields: inout FieldReader) -> Edit<String> {
        edit(name, &fields) { fields in
            guard case .string(let text)? = fields.value(name), let time = Self.time(text) else {
                fields.fault(name, code: .invalidTime, "This must be a time of day as HH:MM or HH:MM:SS.")
                return nil
            }
            return time
        }
    }

    /// Returns a time of day in its shortest form.
    private static func time(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts.allSatisfy({ $0.count == 2 }) else { return nil }
        let limits = [24, 60, 60]
        for (part, limit) in zip(parts, limits) {
            guard part.allSatisfy({ (48...57).contains($0) }), let number = Int(Substring(part)), number < limit else {
                return nil
            }
        }
        return parts.count == 3 && parts[2].elementsEqual("00".utf8) ? String(text.prefix(5)) : text
    }

    func recurrence(_ fields: inout FieldReader) -> Edit<PersonalRecurrence> {
        edit("recurrence", &fields) { fields in
            guard let value = fields.value("recurrence") else { return nil }
            var faults = FaultList()
            let read = PersonalRecurrence(
                value, at: "\(pointer)/recurrence", ignoresUnknown: method == .device, &faults)
            fields.add(faults)
            return read
        }
    }
}
