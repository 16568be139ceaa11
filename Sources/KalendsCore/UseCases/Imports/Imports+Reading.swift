// SPDX-License-Identifier: Apache-2.0

package import Base
package import Storage

extension Imports {
    /// An import as a list shows it to somebody.
    package struct Listed: Sendable {
        package let record: ImportRecord
        /// How far it is when it is under way.
        package let progress: ImportDesk.Progress?
        /// How much of it the caller may see.
        package let shown: ImportShown

        fileprivate init(
            _ record: ImportRecord, _ services: Services, to caller: Caller, in transaction: any ReadTransaction
        ) throws {
            self.record = record
            var progress = services.importDesk.progress(record.id)
            if progress == nil, services.leases.isShared, record.stage == .reading || record.stage == .committing {
                progress = try transaction.leaseNote(ImportRecord.leaseName(record.id)).flatMap(
                    ImportDesk.Progress.init(note:))
            }
            self.progress = progress
            shown = ImportShown(record, to: caller.identity)
        }
    }

    /// Which items of an import a report shows.
    package struct Part: Sendable {
        /// The number of the first item, from 0.
        package var start: Int
        package var limit: Int

        package init(start: Int, limit: Int) {
            self.start = start
            self.limit = limit
        }
    }

    /// An import with its problems, and one part of its items, as far as somebody may see them.
    package struct Report: Sendable {
        package let listed: Listed
        package let timeZones: JSONValue
        package let problems: [JSONValue]
        package let problemsLeftOut: Int
        package let items: [JSONValue]
        /// The number of the item that the next part begins with, nil on the last part.
        package let next: Int?
    }

    /// What was imported into a circle, the latest first.
    ///
    /// - Parameters:
    ///   - cursor: the place of the import that the part begins after.
    ///   - show: makes the part from what it fetches piece by piece, since reports may be large; it has no effects. It
    ///     fetches up to so many imports after a given one, or the part's first ones for nil.
    package func list<Shown: Sendable>(
        in circle: String, for caller: Caller, after cursor: (createdAt: Int, id: String)?,
        _ show: @escaping @Sendable (_ fetch: (_ last: Listed?, _ count: Int) throws -> [Listed]) throws -> Shown
    ) async throws -> Shown {
        try await services.store.read { transaction in
            _ = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
            return try show { last, count in
                let place = last.map { ($0.record.createdAt, $0.record.id) } ?? cursor
                return try transaction.imports(in: circle, after: place, limit: count)
                    .map { try Listed($0, services, to: caller, in: transaction) }
            }
        }
    }

    /// The report of an import with its state; throws 404 for one of a circle that is not the caller's.
    package func report(_ id: String, for caller: Caller, _ part: Part) async throws -> Report {
        try await services.store.read { transaction in
            let record = try Self.record(id, for: caller, .read, in: transaction).0
            return try Report(try Listed(record, services, to: caller, in: transaction), part, in: transaction)
        }
    }

    static func record(
        _ id: String, for caller: Caller, _ right: Right, in transaction: any ReadTransaction
    ) throws -> (ImportRecord, Circle) {
        guard let record = try transaction.importRecord(id) else { throw Refusal.missing(.import) }
        return (record, try Rights.circle(record.circleID, for: caller.identity, right, of: .import, in: transaction))
    }
}

extension Imports.Report {
    /// The most bytes of problems that a report lists, and of items in one part of it.
    private static let mostProblemBytes = 1 << 20
    private static let mostItemBytes = 3 << 20

    fileprivate init(
        _ listed: Imports.Listed, _ part: Imports.Part, in transaction: any ReadTransaction
    ) throws {
        let record = listed.record
        var view = listed.shown
        var told: [ByteString: JSONValue] = [:]
        if !record.report.isEmpty { told = try JSONValue(parsing: Array(record.report.utf8)).object ?? [:] }
        self.listed = listed
        timeZones = view.part == .all ? told["timeZones"] ?? [] : []
        let problems = try view.shown(told["problems"]?.array ?? [], of: record, in: transaction)
        self.problems = try problems[...].prefix(bytes: Self.mostProblemBytes)
        problemsLeftOut = problems.count - self.problems.count
        // No number that somebody sends may be too large to count on with.
        let start = min(max(0, part.start), 1 << 40)
        var shown: ArraySlice<JSONValue>
        var hasMore: Bool
        if let items = told["items"]?.array {
            // Earlier versions kept all items in the report.
            shown = items.dropFirst(start).prefix(part.limit)
            hasMore = start + shown.count < items.count
        } else if record.stage == .reading || record.stage == .readFailed {
            (shown, hasMore) = ([], false)
        } else {
            let first = start / ImportBlock.size
            let last = (start + part.limit) / ImportBlock.size
            let blocks = try transaction.importItems(of: record, blocks: first...last)
            let items = try blocks.flatMap { try JSONValue(parsing: Array($0.utf8)).array ?? [] }
            let rest = items.dropFirst(start - first * ImportBlock.size)
            shown = rest.prefix(part.limit)
            hasMore = rest.count > shown.count
        }
        let fitting = try shown.prefix(bytes: Self.mostItemBytes)
        if fitting.count < shown.count { (shown, hasMore) = (fitting[...], true) }
        items = try view.shown(Array(shown), of: record, in: transaction)
        // Whoever sees nothing of it has no page to turn.
        next = hasMore && view.part != .counts ? start + shown.count : nil
    }
}

extension ArraySlice<JSONValue> {
    /// The first elements that take no more than so many bytes of text, and one at least.
    fileprivate func prefix(bytes most: Int) throws -> [JSONValue] {
        var (kept, bytes): ([JSONValue], Int) = ([], 0)
        for element in self {
            bytes += try element.serialized().count + 1
            guard bytes <= most || kept.isEmpty else { break }
            kept.append(element)
        }
        return kept
    }
}
