// SPDX-License-Identifier: Apache-2.0

/// Collects problems, and counts those of kinds that have too many to be listed.
struct ProblemLog: Sendable {
    /// Something found during reading that may be a problem because of earlier findings, perhaps of another thread.
    enum Mark: Sendable {
        case zone(String, line: Int)
        case floatingZone
        /// A UID made from the content, for an event of the batch.
        case madeUID(event: Int, line: Int, isReported: Bool, since: Position)
    }

    /// A position in the log.
    struct Position: Sendable {
        fileprivate var problems: Int
        fileprivate var marks: Int
    }

    private(set) var problems: [Problem] = []
    /// Each mark with the number of problems before it, and the UID of the component that contains it.
    private var marks: [(at: Int, mark: Mark, uid: String?)] = []
    private var counts: [Problem.Code: Int] = [:]
    private var unlisted: [Problem.Code: (count: Int, line: Int, severity: Problem.Severity)] = [:]
    /// The maximum number of problems with the same code that are listed individually.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(
        _ severity: Problem.Severity, _ code: Problem.Code, line: Int, uid: String? = nil,
        text: @autoclosure () -> String? = nil, _ sentence: @autoclosure () -> Sentence
    ) {
        let count = counts[code, default: 0] + 1
        counts[code] = count
        guard count <= limit else { return addUnlisted(1, code, line: line, severity) }
        problems.append(
            Problem(
                line: line, uid: uid, severity: severity, code: code, sentence: sentence(),
                text: text().map(Self.short)))
    }

    mutating func add(
        _ severity: Problem.Severity, _ code: Problem.Code, line: Int, uid: String? = nil,
        text: @autoclosure () -> String? = nil, _ said: Sentence.Code, _ english: @autoclosure () -> Sentence.Text,
        count: Int? = nil
    ) {
        add(severity, code, line: line, uid: uid, text: text(), Sentence(said, english(), count: count))
    }

    /// Adds a mark after the problems so far.
    mutating func mark(_ mark: Mark) { marks.append((problems.count, mark, nil)) }

    /// Removes and returns the problems listed so far; later ones add to the same counts.
    mutating func takeProblems() -> [Problem] {
        defer { problems = [] }
        return problems
    }

    var position: Position { Position(problems: problems.count, marks: marks.count) }

    /// Returns the whole log, and leaves an empty one.
    mutating func taken() -> ProblemLog {
        let whole = self
        self = ProblemLog(limit: limit)
        return whole
    }

    func count(of code: Problem.Code) -> Int { counts[code, default: 0] }

    /// Sets the UID of the component in everything that was added since a position.
    mutating func setUID(_ uid: String, from start: Position) {
        let uid = uid.withBoundedMarks
        for index in start.problems..<problems.count where problems[index].uid == nil { problems[index].uid = uid }
        for index in start.marks..<marks.count where marks[index].uid == nil { marks[index].uid = uid }
    }

    /// Sets the UID of each event whose UID was made, in the problems and marks that were added for it.
    mutating func settleUIDs(_ uid: (_ event: Int) -> String) {
        var from = Position(problems: 0, marks: 0)
        for index in marks.indices {
            guard case .madeUID(let event, _, _, let since) = marks[index].mark else { continue }
            from = since
            let uid = uid(event)
            for problem in from.problems..<marks[index].at where problems[problem].uid == nil {
                problems[problem].uid = uid
            }
            for mark in from.marks...index where marks[mark].uid == nil { marks[mark].uid = uid }
        }
    }

    /// Adds the contents of a later log, as if they had been added here; `settle` decides what becomes of a mark.
    mutating func append(
        _ later: ProblemLog, settle: (_ mark: Mark, _ uid: String?, _ log: inout ProblemLog) -> Void
    ) {
        var next = 0
        for mark in later.marks {
            for problem in later.problems[next..<mark.at] { add(problem) }
            next = mark.at
            settle(mark.mark, mark.uid, &self)
        }
        for problem in later.problems[next...] { add(problem) }
        for (code, more) in later.unlisted {
            counts[code, default: 0] += more.count
            addUnlisted(more.count, code, line: more.line, more.severity)
        }
    }

    /// Adds a finished problem.
    mutating func add(_ problem: Problem) {
        let count = counts[problem.code, default: 0] + 1
        counts[problem.code] = count
        guard count <= limit else { return addUnlisted(1, problem.code, line: problem.line, problem.severity) }
        problems.append(problem)
    }

    /// Counts problems that are not listed; where any of them is an error, something is lost.
    private mutating func addUnlisted(
        _ count: Int, _ code: Problem.Code, line: Int, _ severity: Problem.Severity
    ) {
        let before = unlisted[code]
        unlisted[code] = (
            (before?.count ?? 0) + count, before?.line ?? line, before?.severity == .error ? .error : severity
        )
    }

    /// All problems by line, with one more for each kind that was cut off.
    func sorted() -> [Problem] {
        let rest = unlisted.map { code, more in
            Problem(
                line: more.line, severity: more.severity, code: code,
                sentence: Sentence(
                    .moreProblems, "\(more.count, .count) further problems of this kind are not listed."))
        }
        return Self.sorted(problems + rest.sorted { $0.code.rawValue < $1.code.rawValue })
    }

    /// The problems by line; those of one line stay in their order.
    static func sorted(_ problems: [Problem]) -> [Problem] {
        problems.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }.map(\.element)
    }

    /// A text cut to a readable length.
    static func short(_ text: String) -> String {
        // Counted in scalars: what is shown as one character may have a thousand combining marks.
        let scalars = text.unicodeScalars.prefix(81)
        let line = scalars.count > 80 ? String(scalars.dropLast()) + "…" : String(scalars)
        return line.withBoundedMarks
    }
}
