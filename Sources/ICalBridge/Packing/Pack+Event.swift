// SPDX-License-Identifier: Apache-2.0

extension PackWriter {
    public mutating func write(_ event: Event) {
        tag("e")
        if event.kind != .event { field("k", event.kind.rawValue) }
        field("u", event.uid)
        field("r", event.recurrenceID)
        if event.appliesToFuture { tag("f") }
        field("s", event.start)
        if let end = event.end {
            tag("e")
            write(end)
        }
        field("t", event.summary)
        field("d", event.description)
        field("l", event.location)
        field("S", event.status)
        if let isTransparent = event.isTransparent { field("T", isTransparent ? 1 : 0) }
        field("c", event.classification)
        if event.sequence != 0 { field("q", event.sequence) }
        field("1", event.timestamp?.seconds)
        field("2", event.created?.seconds)
        field("3", event.lastModified?.seconds)
        list("g", event.categories) { $0.write($1) }
        field("w", event.url)
        list("R", event.recurrence.rules) { $0.write($1) }
        list("A", event.recurrence.additions) { writer, addition in
            writer.write(addition.start)
            guard let end = addition.end else { return writer.tag(".") }
            writer.tag("e")
            writer.write(end)
        }
        list("X", event.recurrence.exclusions) { $0.write($1) }
        list("Q", event.recurrence.exclusionRules) { $0.write($1) }
        list("a", event.alarms) { $0.write($1) }
        if let parameters = event.textParameters {
            tag("P")
            write(parameters.keys.sorted()) { writer, name in
                writer.write(name.string)
                writer.write(parameters[name] ?? []) { $0.write($1) }
            }
        }
        list("O", event.otherProperties) { $0.write($1) }
        tag(".")
    }

    private mutating func field(_ letter: Unicode.Scalar, _ time: EventTime?) {
        guard let time else { return }
        tag(letter)
        write(time)
    }

    private mutating func list<Element>(
        _ letter: Unicode.Scalar, _ elements: [Element], _ body: (inout PackWriter, Element) -> Void
    ) {
        guard !elements.isEmpty else { return }
        tag(letter)
        write(elements, body)
    }

    private mutating func write(_ alarm: Alarm) {
        switch alarm.trigger {
        case .relativeToStart(let duration):
            tag("s")
            write(duration)
        case .relativeToEnd(let duration):
            tag("e")
            write(duration)
        case .absolute(let instant):
            tag("u")
            write(instant.seconds)
        }
        write(alarm.action)
        field("d", alarm.description)
        list("O", alarm.otherProperties) { $0.write($1) }
        tag(".")
    }

    private mutating func write(_ line: ContentLine) {
        write(line.name)
        write(line.parameters) { $0.write($1) }
        write(line.value)
    }

    private mutating func write(_ parameter: ContentLine.Parameter) {
        write(parameter.name)
        write(parameter.values) { $0.write($1) }
    }
}

extension PackReader {
    /// Reads an event with only what tells it apart from others and orders its versions: the UID, the class, numbers
    /// and times. Its texts are empty, which takes half of the time.
    public mutating func identity() throws(PackError) -> Event {
        skipsTexts = true
        defer { skipsTexts = false }
        return try event()
    }

    public mutating func event() throws(PackError) -> Event {
        guard try tag() == "e" else { throw failure() }
        var event = Event(uid: "", start: nil)
        while let letter = try tag() {
            switch letter {
            case "k":
                let name = try whole { (reader) throws(PackError) in try reader.text() }
                guard let kind = Event.Kind(rawValue: name) else { throw failure() }
                event.kind = kind
            case "u": event.uid = try whole { (reader) throws(PackError) in try reader.text() }
            case "r": event.recurrenceID = try time()
            case "f": event.appliesToFuture = true
            case "s": event.start = try time()
            case "e": event.end = try end()
            case "t": event.summary = try text()
            case "d": event.description = try text()
            case "l": event.location = try text()
            case "S": event.status = try text()
            case "T": event.isTransparent = try integer() != 0
            case "c": event.classification = try whole { (reader) throws(PackError) in try reader.text() }
            case "q": event.sequence = try integer()
            case "1": event.timestamp = try instant()
            case "2": event.created = try instant()
            case "3": event.lastModified = try instant()
            case "w": event.url = try text()
            default: try readList(letter, into: &event)
            }
        }
        return event
    }

    private mutating func readList(_ letter: Unicode.Scalar, into event: inout Event) throws(PackError) {
        switch letter {
        case "g": event.categories = try list { (reader) throws(PackError) in try reader.text() }
        case "R": event.recurrence.rules = try list { (reader) throws(PackError) in try reader.rule() }
        case "A": event.recurrence.additions = try list { (reader) throws(PackError) in try reader.addition() }
        case "X": event.recurrence.exclusions = try list { (reader) throws(PackError) in try reader.time() }
        case "Q": event.recurrence.exclusionRules = try list { (reader) throws(PackError) in try reader.rule() }
        case "a": event.alarms = try list { (reader) throws(PackError) in try reader.alarm() }
        case "P":
            var parameters: [ByteString: [ContentLine.Parameter]] = [:]
            for _ in 0..<max(0, try integer()) {
                let name = try text()
                parameters[name] = try list { (reader) throws(PackError) in try reader.parameter() }
            }
            event.textParameters = parameters
        case "O": event.otherProperties = try list { (reader) throws(PackError) in try reader.line() }
        default: throw failure()
        }
    }

    private mutating func addition() throws(PackError) -> Recurrence.Addition {
        let start = try time()
        switch try tag() {
        case nil: return Recurrence.Addition(start: start)
        case "e": return Recurrence.Addition(start: start, end: try end())
        default: throw failure()
        }
    }

    private mutating func alarm() throws(PackError) -> Alarm {
        let trigger: Alarm.Trigger
        switch try tag() {
        case "s": trigger = .relativeToStart(try duration())
        case "e": trigger = .relativeToEnd(try duration())
        case "u": trigger = .absolute(try instant())
        default: throw failure()
        }
        var alarm = Alarm(trigger: trigger, action: try text())
        while let letter = try tag() {
            switch letter {
            case "d": alarm.description = try text()
            case "O": alarm.otherProperties = try list { (reader) throws(PackError) in try reader.line() }
            default: throw failure()
            }
        }
        return alarm
    }

    private mutating func line() throws(PackError) -> ContentLine {
        ContentLine(
            name: try text(), parameters: try list { (reader) throws(PackError) in try reader.parameter() },
            value: try text())
    }

    private mutating func parameter() throws(PackError) -> ContentLine.Parameter {
        ContentLine.Parameter(
            name: try text(), values: try list { (reader) throws(PackError) in try reader.text() })
    }
}
