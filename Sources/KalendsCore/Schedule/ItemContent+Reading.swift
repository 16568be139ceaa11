// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

extension ItemContent {
    /// The members of a read item that are ours and that a client may send back with it.
    static let readOnly: Set<ByteString> = [
        "id", "circleId", "uid", "sequence", "createdAt", "updatedAt", "occurrences",
    ]

    /// Reads the fields of an item of one collection; nil when one that it needs is missing or wrong.
    static func read(_ collection: ScheduleItem.Collection, _ fields: inout FieldReader) -> ItemContent? {
        switch collection {
        case .tasks: task(&fields)
        case .shifts: shift(&fields)
        case .appointments: appointment(&fields)
        case .followUps: followUp(&fields)
        }
    }

    private static func task(_ fields: inout FieldReader) -> ItemContent? {
        let title = fields.text("title", isRequired: true)
        let dueAt = fields.instant("dueAt", isRequired: true)
        let duration = fields.integer("durationMinutes", in: 1...10_080) ?? 30
        let zone = fields.timeZone("timeZone")
        let patient = fields.identifier("patientId")
        let owner = fields.identifier("ownerId")
        let status = fields.choice("status", CareTask.Status.self) ?? .open
        let reminders = fields.reminders("reminders") ?? []
        let notes = fields.notes()
        guard let title, let dueAt else { return nil }
        return .task(
            TaskContent(
                title: title, dueAt: dueAt, durationMinutes: duration, timeZone: zone?.identifier, patientId: patient,
                ownerId: owner, status: status, reminders: reminders, notes: notes))
    }

    private static func followUp(_ fields: inout FieldReader) -> ItemContent? {
        let description = fields.text("description", isRequired: true)
        let dueAt = fields.instant("dueAt", isRequired: true)
        let duration = fields.integer("durationMinutes", in: 1...10_080) ?? 30
        let zone = fields.timeZone("timeZone")
        let patient = fields.identifier("patientId")
        let owner = fields.identifier("ownerId")
        let reminders = fields.reminders("reminders") ?? []
        let notes = fields.notes()
        guard let description, let dueAt else { return nil }
        return .followUp(
            FollowUpContent(
                description: description, dueAt: dueAt, durationMinutes: duration, timeZone: zone?.identifier,
                patientId: patient, ownerId: owner, reminders: reminders, notes: notes))
    }

    private static func shift(_ fields: inout FieldReader) -> ItemContent? {
        let patient = fields.identifier("patientId", isRequired: true)
        let owner = fields.identifier("ownerId")
        let zone = fields.timeZone("timeZone")
        let notes = fields.notes()
        let isDays = fields.has("startDate") || fields.has("endDate")
        if isDays, fields.has("startAt") || fields.has("endAt") {
            fields.fault(
                "startAt", code: .contradiction, "A shift has startAt and endAt, or startDate and endDate, not both.")
        }
        let startAt = fields.instant("startAt", isRequired: !isDays)
        let endAt = fields.instant("endAt", isRequired: !isDays)
        let startDate = fields.date("startDate", isRequired: isDays)
        let endDate = fields.date("endDate", isRequired: isDays)
        if let startAt, let endAt, endAt <= startAt {
            fields.fault("endAt", code: .order, "The end must be after the start.")
        }
        if let startDate, let endDate, endDate < startDate {
            fields.fault("endDate", code: .order, "The last day must not be before the first.")
        }
        guard let patient else { return nil }
        return .shift(
            ShiftContent(
                patientId: patient, ownerId: owner, startAt: startAt, endAt: endAt, startDate: startDate,
                endDate: endDate, timeZone: zone?.identifier, notes: notes))
    }

    private static func appointment(_ fields: inout FieldReader) -> ItemContent? {
        let patient = fields.identifier("patientId", isRequired: true)
        let provider = fields.text("provider", isRequired: true)
        let times = times(&fields, defaultMinutes: 60)
        let zone = fields.timeZone("timeZone")
        let location = fields.text("location")
        let notes = fields.notes()
        let status = fields.choice("status", Appointment.Status.self) ?? .confirmed
        let reminders = fields.reminders("reminders") ?? []
        let recurrence = recurrence(&fields)
        guard let patient, let provider, let times else { return nil }
        return .appointment(
            AppointmentContent(
                patientId: patient, provider: provider, startAt: times.start, endAt: times.end,
                timeZone: zone?.identifier, location: location, notes: notes, status: status,
                recurrence: recurrence, reminders: reminders))
    }

    /// `startAt` with `endAt` or `durationMinutes`.
    fileprivate static func times(
        _ fields: inout FieldReader, defaultMinutes: Int, defaultStart: Instant? = nil
    ) -> (start: Instant, end: Instant)? {
        let start = fields.instant("startAt", isRequired: defaultStart == nil) ?? defaultStart
        let end = fields.instant("endAt")
        let duration = fields.integer("durationMinutes", in: 1...10_080)
        if end != nil, duration != nil {
            fields.fault("durationMinutes", code: .contradiction, "Give endAt or durationMinutes, not both.")
        }
        if let start, let end, end <= start {
            fields.fault("endAt", code: .order, "The end must be after the start.")
        }
        guard let start else { return nil }
        return (start, end ?? start.adding(seconds: (duration ?? defaultMinutes) * 60))
    }

    private static func recurrence(_ fields: inout FieldReader) -> AppointmentContent.Repetition? {
        guard let value = fields.value("recurrence") else { return nil }
        var inner = FieldReader(value, at: "/recurrence")
        let text = inner.text("rrule", maximum: 4096)
        var canonical: String?
        if let text {
            do {
                let rule = try RecurrenceRule(text.hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text)
                if [.secondly, .minutely].contains(rule.frequency) {
                    inner.fault("rrule", code: .invalidRule, "An appointment repeats hourly at most.")
                }
                canonical = rule.description
            } catch {
                inner.fault("rrule", code: .invalidRule, error.description)
            }
        }
        let exdates = instants("exdates", &inner)
        let rdates = instants("rdates", &inner)
        inner.finish()
        fields.add(inner.faults)
        guard canonical != nil || !rdates.isEmpty else {
            if inner.faults.isEmpty {
                fields.fault("recurrence", code: .required, "A recurrence needs an rrule or rdates.")
            }
            return nil
        }
        return AppointmentContent.Repetition(rrule: canonical, exdates: exdates, rdates: rdates)
    }

    private static func instants(_ name: String, _ fields: inout FieldReader) -> [Instant] {
        guard let value = fields.value(name) else { return [] }
        guard case .array(let items) = value, items.count <= 1000 else {
            fields.fault(name, code: .tooMany, "This must be a list of at most 1000 times.")
            return []
        }
        return items.enumerated().compactMap { index, item in
            if case .string(let text) = item, let instant = Instant(rfc3339: text),
                FieldReader.years.contains(instant.utc.date.year)
            {
                return instant
            }
            fields.fault(
                "\(name)/\(index)", code: .invalidTime,
                "This must be a time as RFC 3339 writes it, with an offset, of the years "
                    + "\(FieldReader.years.lowerBound) to \(FieldReader.years.upperBound).")
            return nil
        }
    }
}

extension OccurrenceContent {
    /// Reads a changed occurrence of a series; what is not given stays as in the series.
    package init(from value: JSONValue, originalStart: Instant, series: AppointmentContent) throws {
        var fields = FieldReader(value)
        let minutes = (series.endAt.seconds - series.startAt.seconds) / 60
        let times = ItemContent.times(&fields, defaultMinutes: minutes, defaultStart: originalStart)
        provider = fields.text("provider")
        location = fields.text("location")
        notes = fields.notes()
        status = fields.choice("status", Appointment.Status.self) ?? .confirmed
        fields.finish(ignoring: ["originalStart"])
        try fields.check()
        startAt = times?.start ?? originalStart
        endAt = times?.end ?? originalStart
    }
}

extension FieldReader {
    fileprivate mutating func notes() -> String? { text("notes", maximum: .max, maximumBytes: Self.longestNotes) }
}
