// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// Checks a calendar file: reports its faults and how calendar apps read it. Nothing is stored.
package struct FileCheck: Sendable {
    let context: ImportContext

    /// Checks a file in a reading process; throws 429 when too much is being received, 422 for a file beyond its
    /// limits.
    ///
    /// - Parameters:
    ///   - sender: the sender whose quota the bytes count against.
    ///   - receive: receives the file once it is admitted; the memory that it keeps counts against the holding.
    /// - Returns: the result, and the file's size in bytes.
    package func result(
        from sender: Sender, receive: (FairPool.Holding) async throws -> ImportUpload
    ) async throws -> (found: Result, bytes: Int) {
        let admission = try context.intake.files.enter(sender)
        let upload = try await receive(admission)
        let found = try await context.reader.check(upload)
        withExtendedLifetime(admission) {}
        return (found, upload.spool.count)
    }

    /// The findings of a check of a file; its JSON is what `kalends check --json` writes.
    package struct Result: JSONFormed {
        package var file = ""
        package var format = SourceFormat.empty
        package var calendars: [Calendar] = []
        package var skipped = 0
        /// The reason why nothing can be read.
        package var refusalSentence: Sentence?
        package var refusal: String? {
            get { refusalSentence?.text }
            set { refusalSentence = newValue.map(Sentence.init(ofOthers:)) }
        }
        package var timeZones: [TimeZoneResolution] = []
        /// Empty for a format if no app's handling of it is known.
        package var clients: [ClientVerdict] = []
        package var problems: [Problem] = []

        package init() {}

        package init(file: String, _ reading: CalendarReading, _ clients: [ClientVerdict]) {
            (self.file, format, skipped) = (file, reading.format, reading.skipped)
            refusalSentence = reading.refusalSentence
            (self.clients, timeZones, problems) = (clients, reading.timeZones, reading.problems)
            calendars = reading.calendars.map(Calendar.init)
        }

        package var hasFaults: Bool { refusalSentence != nil || !problems.isEmpty }

        package static let form = JSONForm<Self>([
            .init("file", \.file), .init("format", \.format), .init("calendars", \.calendars),
            .init("skipped", \.skipped), .init("refusal", \.refusal), .init("timeZones", \.timeZones),
            .init("clients", \.clients), .init("problems", \.problems),
        ])
    }

    /// A result as a worker passes it: its JSON has the sentences in English only.
    package struct Passed: JSONFormed {
        package var found = Result()
        private var sentences: [Sentence] {
            get {
                found.problems.map(\.sentence) + found.clients.flatMap { $0.reasons.map(\.sentence) }
                    + (found.refusalSentence.map { [$0] } ?? [])
            }
            set {
                var rest = newValue[...]
                for index in found.problems.indices { rest.popFirst().map { found.problems[index].sentence = $0 } }
                for client in found.clients.indices {
                    for index in found.clients[client].reasons.indices {
                        rest.popFirst().map { found.clients[client].reasons[index].sentence = $0 }
                    }
                }
                if found.refusalSentence != nil { found.refusalSentence = rest.popFirst() ?? found.refusalSentence }
            }
        }

        package init() {}
        package init(_ found: Result) { self.found = found }

        package static let form = JSONForm<Self>(
            Result.form.within(\.found) + [.init("sentences", \.sentences)])
    }

    /// A calendar of a file.
    package struct Calendar: JSONFormed {
        package var name: String?
        package var productID: String?
        package var method: String?
        package var components = 0
        /// The first and the last day on which an event starts; nil for a calendar without events.
        package var starts: Days?

        package init() {}

        fileprivate init(_ calendar: ICalendar) {
            (name, productID, method) = (calendar.name, calendar.productID, calendar.method)
            components = calendar.events.count
            let days = calendar.events.compactMap { $0.start?.civilDate }
            if let first = days.min(), let last = days.max() { starts = Days(first: first, last: last) }
        }

        package static let form = JSONForm<Self>([
            .init("name", \.name), .init("productId", \.productID), .init("method", \.method),
            .init("components", \.components), .init("starts", \.starts),
        ])
    }

    package struct Days: JSONFormed {
        package var first = CivilDate(daysSinceEpoch: 0)
        package var last = CivilDate(daysSinceEpoch: 0)

        package init() {}
        fileprivate init(first: CivilDate, last: CivilDate) { (self.first, self.last) = (first, last) }

        package static let form = JSONForm<Self>([.init("first", \.first), .init("last", \.last)])
    }
}

extension SourceFormat: JSONPart {}
extension CalendarClient: JSONPart {}
extension ClientVerdict.Outcome: JSONPart {}

extension ClientVerdict: JSONFormed {
    package init() { self.init(client: .google, outcome: .takes, reasons: []) }

    package static let form = JSONForm<Self>([
        .init("client", \.client), .init("verdict", \.outcome), .init("reasons", \.reasons),
    ])
}

extension ClientVerdict.Reason: JSONFormed {
    package init() { self.init(rule: "", outcome: .takes, sentence: Sentence(ofOthers: ""), source: "") }

    package static let form = JSONForm<Self>([
        .init("rule", \.rule), .init("verdict", \.outcome), .init("message", \.message), .init("source", \.source),
    ])
}
