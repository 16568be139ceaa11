// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Selects the problems that are shown one by one, and counts the rest.
enum CheckProblems {
    enum Entry: Equatable {
        case problem(Problem)
        /// Further problems of a code that are not shown one by one, and the lines between which they are; the last
        /// line may be unknown.
        case more(count: Int, code: Problem.Code, from: Int, to: Int?)
    }

    /// The number of problems of each code that are shown one by one.
    private static let shown = 3

    /// The problems by line: the first few of each code, and then the number of further ones.
    static func entries(_ problems: [Problem], showsAll: Bool) -> [Entry] {
        let sorted = problems.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map(\.element)
        if showsAll { return sorted.map(Entry.problem) }
        var rest: [Problem.Code: (count: Int, from: Int, to: Int?)] = [:]
        var met: [Problem.Code: Int] = [:]
        for problem in sorted {
            met[problem.code, default: 0] += 1
            guard met[problem.code, default: 0] > shown else { continue }
            let before = rest[problem.code]
            // Problems that the reader did not list are on later lines.
            let isLast = problem.unlisted == nil && (before == nil || before?.to != nil)
            rest[problem.code] = (
                (before?.count ?? 0) + (problem.unlisted ?? 1), before?.from ?? problem.line,
                isLast ? problem.line : nil
            )
        }
        met = [:]
        var entries: [Entry] = []
        for problem in sorted {
            met[problem.code, default: 0] += 1
            switch met[problem.code, default: 0] {
            case ...shown: entries.append(.problem(problem))
            case shown + 1:
                guard let more = rest[problem.code] else { continue }
                entries.append(.more(count: more.count, code: problem.code, from: more.from, to: more.to))
            default: break
            }
        }
        return entries
    }

    /// A text such as `3 errors, 2 warnings, 5 repaired`.
    static func totals(_ problems: [Problem]) -> String {
        func count(_ severity: Problem.Severity) -> Int {
            problems.reduce(0) { $1.severity == severity ? $0 + ($1.unlisted ?? 1) : $0 }
        }
        let (errors, warnings, repaired) = (count(.error), count(.warning), count(.repaired))
        return [
            errors > 0 ? "\(errors.grouped) error\(errors == 1 ? "" : "s")" : nil,
            warnings > 0 ? "\(warnings.grouped) warning\(warnings == 1 ? "" : "s")" : nil,
            repaired > 0 ? "\(repaired.grouped) repaired" : nil,
        ].compactMap(\.self).joined(separator: ", ")
    }
}
