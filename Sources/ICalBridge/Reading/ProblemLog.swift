// SPDX-License-Identifier: Apache-2.0

/// Collects problems, and counts those of a kind that has too many to be listed.
struct ProblemLog {
    private(set) var problems: [Problem] = []
    private var counts: [Problem.Code: Int] = [:]
    private var unlisted: [Problem.Code: (count: Int, line: Int, severity: Problem.Severity)] = [:]
    /// The most problems of one code that are listed one by one.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(
        _ severity: Problem.Severity, _ code: Problem.Code, line: Int, uid: String? = nil, text: String? = nil,
        _ message: @autoclosure () -> String
    ) {
        let count = counts[code, default: 0] + 1
        counts[code] = count
        guard count <= limit else {
            let before = unlisted[code]
            unlisted[code] = ((before?.count ?? 0) + 1, before?.line ?? line, severity)
            return
        }
        problems.append(
            Problem(
                line: line, uid: uid, severity: severity, code: code, message: message(), text: text.map(Self.short)))
    }

    /// Everything so far, leaving an empty log behind.
    mutating func taken() -> ProblemLog {
        let whole = self
        self = ProblemLog(limit: limit)
        return whole
    }

    func count(of code: Problem.Code) -> Int { counts[code, default: 0] }

    /// Names the component in the problems added since there were `count`.
    mutating func setUID(_ uid: String, from count: Int) {
        for index in count..<problems.count where problems[index].uid == nil { problems[index].uid = uid }
    }

    /// All of them by line, with one more for each kind that was cut off.
    func sorted() -> [Problem] {
        let rest = unlisted.map { code, more in
            Problem(
                line: more.line, severity: more.severity, code: code,
                message: "\(more.count) more problems of this kind from here on are not listed.")
        }
        let all = problems + rest.sorted { $0.code.rawValue < $1.code.rawValue }
        return all.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }.map(\.element)
    }

    /// A text cut to a readable length.
    static func short(_ text: String) -> String {
        let line = text.prefix(81)
        return line.count > 80 ? line.dropLast() + "…" : String(line)
    }
}
