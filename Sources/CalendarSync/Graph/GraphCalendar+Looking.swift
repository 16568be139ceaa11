// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GraphCalendar {
    public func look(
        at ids: [String], in calendar: String
    ) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)] {
        let years = 3 * 365 * 86_400
        let window = TimeRange(from: now().adding(seconds: -years / 3), to: now().adding(seconds: years))
        var looks: [(id: String, look: RemoteLookup)] = []
        for (id, found) in try await events(ids, in: calendar, isDoubted: true) {
            guard var event = found else {
                looks.append((id, .gone))
                continue
            }
            if case .master(let entry) = event.content, event.mark != nil {
                event.content = try await filled(entry, id: id, window: window)
            }
            looks.append((id, .present(event)))
        }
        return looks
    }

    /// Returns a request for a calendar, because each event of a calendar that is gone answers 404.
    func reading(_ calendar: String) -> GraphStep {
        GraphStep(method: "GET", path: Self.path(of: calendar) + "?$select=id")
    }

    /// Returns events with all that belongs to them, in the order of the ids; nil for one that is gone.
    ///
    /// An event that Graph does not return for its own reasons is unreadable, not absent.
    ///
    /// - Parameter isDoubted: whether the same batch asks for the calendar, before an event counts as gone.
    func events(
        _ ids: [String], in calendar: String, isDoubted: Bool = false
    ) async throws(ProviderFailure) -> [(id: String, event: RemoteEvent?)] {
        let asked = ids.filter(GraphEvent.isID)
        guard !asked.isEmpty || isDoubted && !ids.isEmpty else { return ids.map { ($0, nil) } }
        var outcomes = await wire.batch(
            (isDoubted ? [[reading(calendar)]] : [])
                + asked.map { [GraphStep(method: "GET", path: Self.path(of: $0, in: calendar))] })
        if isDoubted, case .failure(let failure)? = outcomes.removeFirst().first?.success { throw failure }
        var found: [ByteString: RemoteEvent?] = [:]
        for (id, outcome) in zip(asked, outcomes) {
            switch outcome.first {
            case .failed(let failure): throw failure
            case nil: throw ProviderFailure(.malformed, "Microsoft's answer leaves out a request of a batch.")
            case .answered(let answer): found[ByteString(id)] = .some(try Self.event(id, answer))
            }
        }
        return ids.map { ($0, found[ByteString($0)] ?? nil) }
    }

    /// Reads the answer to a request for one event; returns nil when the event is gone.
    private static func event(_ id: String, _ answer: GraphAnswer) throws(ProviderFailure) -> RemoteEvent? {
        if answer.status == 404 || answer.status == 410 { return nil }
        guard answer.isSuccess else {
            let failure = answer.failure
            guard answer.status == 400 else { throw failure }
            return RemoteEvent(id: id, etag: nil, mark: nil, content: .unreadable("Outlook does not show this event."))
        }
        guard let event = GraphEvent(answer.body) else {
            return RemoteEvent(id: id, etag: nil, mark: nil, content: .unreadable("Outlook's answer is not an event."))
        }
        if event.isCancelled { return nil }
        var remote = event.remote()
        // Use the id that was requested, whatever form it has in the answer.
        remote.id = id
        return remote
    }

    /// The number of marks up to which each is searched separately; for more, all our events are listed.
    private static let fewMarks = 40

    public func find(_ marks: [EventMark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        guard !marks.isEmpty else { return [] }
        let wanted = Set(marks)
        var ids: [String] = []
        if wanted.count > Self.fewMarks {
            ids = try await marked(in: calendar).filter { wanted.contains($0.value) }.map(\.key.string).sorted()
        } else {
            let outcomes = await wire.batch(
                marks.map { [GraphStep(method: "GET", path: Self.search(GraphMark.key(of: $0), in: calendar))] })
            for outcome in outcomes {
                switch outcome.first?.success {
                case .failure(let failure): throw failure
                case nil: throw ProviderFailure(.malformed, "Microsoft's answer leaves out a request of a batch.")
                case .success(let answer):
                    // A filter ignores case, so the mark itself decides.
                    ids += (answer.body["value"]?.array ?? []).compactMap { GraphEvent($0) }
                        .filter { $0.mark.map(wanted.contains) ?? false }.map(\.id)
                }
            }
        }
        return try await events(ids, in: calendar).compactMap(\.event)
    }

    /// Returns the address of a search for events with a mark's key.
    private static func search(_ key: String, in calendar: String) -> String {
        "\(path(of: calendar))/events?$select=id,type,changeKey&$top=50&$filter="
            + filter(GraphMark.keyProperty, key) + "&$expand=\(expansion(GraphMark.markProperty))"
    }

    private static func filter(_ property: String, _ value: String) -> String {
        PercentEncoding.encode(
            "singleValueExtendedProperties/Any(ep: ep/id eq '\(property)' and ep/value eq '\(value)')")
    }

    /// Returns the marks of all our events in a calendar, by id.
    func marked(in calendar: String) async throws(ProviderFailure) -> [ByteString: EventMark] {
        try await marks(
            "\(Self.path(of: calendar))/events?$select=id,type,changeKey&$top=1000&$filter="
                + Self.filter(GraphMark.signProperty, "1") + "&$expand=\(Self.expansion(GraphMark.markProperty))")
    }

    /// Does the same by reading the calendar event by event: slower, but never older than our writes.
    func markedBySight(in calendar: String) async throws(ProviderFailure) -> [ByteString: EventMark] {
        try await marks(
            "\(Self.path(of: calendar))/events?$select=id,type,changeKey&$top=1000"
                + "&$expand=\(Self.expansion(GraphMark.markProperty))")
    }

    private func marks(_ address: String) async throws(ProviderFailure) -> [ByteString: EventMark] {
        var marks: [ByteString: EventMark] = [:]
        for event in try await pages(address).compactMap({ GraphEvent($0) }) {
            if let mark = event.mark { marks[event.id] = mark }
        }
        return marks
    }
}
