// SPDX-License-Identifier: Apache-2.0

package import Base
package import Storage

extension Imports {
    /// An import as a list shows it to a caller.
    package struct Listed: Sendable {
        package let record: ImportRecord
        /// The progress of the import; nil unless it is in progress.
        package let progress: ImportRegistry.Progress?
        /// How much of the import the caller may see.
        package let shown: ImportShown

        /// - Parameter earlier: the progress before `transaction` began: an import that has ended since is still under
        ///   way in the transaction, and the desk knows nothing more of it.
        fileprivate init(
            _ record: ImportRecord, _ services: Services, to caller: Identity, earlier: ImportRegistry.Progress? = nil,
            in transaction: any ReadTransaction
        ) throws {
            self.record = record
            var progress = services.importRegistry.progress(record.id) ?? earlier
            if progress == nil, services.leases.isShared, record.stage == .reading || record.stage == .committing {
                progress = try transaction.leaseNote(ImportRecord.leaseName(record.id)).flatMap(
                    ImportRegistry.Progress.init(note:))
            }
            self.progress = progress
            shown = ImportShown(record, to: caller)
        }
    }

    /// The items of an import that a report shows.
    package struct Part: Sendable {
        /// The number of the first item, from 0.
        package var start: Int
        package var limit: Int

        package init(start: Int, limit: Int) {
            self.start = start
            self.limit = limit
        }
    }

    /// An import with its problems and one part of its items, as far as the caller may see them.
    package struct Report: Sendable {
        package let listed: Listed
        package let timeZones: JSONValue
        /// What was left out of the events, by property, and what the importer wanted to keep.
        package let dropped: JSONValue
        package let keep: JSONValue
        package let problems: [JSONValue]
        package let problemsLeftOut: Int
        package let items: [JSONValue]
        /// The number of the first item of the next part; nil on the last part.
        package let next: Int?
    }

    /// Lists the imports into a circle that the caller may see, the latest first.
    ///
    /// - Parameters:
    ///   - cursor: the place of the import after which the part begins.
    ///   - show: makes the result with a function that fetches up to so many imports after a given one, nil for the
    ///     part's first ones, since reports may be large; it must have no effects.
    package func list<Shown: Sendable>(
        in circle: String, for caller: Caller, after cursor: (createdAt: Int, id: String)?,
        _ show: @escaping @Sendable (_ fetch: (_ last: Listed?, _ count: Int) throws -> [Listed]) throws -> Shown
    ) async throws -> Shown {
        try await services.acts.readPage(for: caller) { transaction in
            _ = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
            return try show { last, count in
                let place = last.map { ($0.record.createdAt, $0.record.id) } ?? cursor
                return try transaction.imports(in: circle, for: caller.userID, after: place, limit: count)
                    .map { try Listed($0, services, to: caller.identity, in: transaction) }
            }
        }
    }

    /// Returns the report of an import with its state; throws 404 for an import that the caller may not see.
    package func report(_ id: String, for caller: Caller, _ part: Part) async throws -> Report {
        let earlier = services.importRegistry.progress(id)
        return try await services.acts.readPage(for: caller) { transaction in
            let record = try Rights.import(id, for: caller.identity, .read, in: transaction).0
            return try Report(
                try Listed(record, services, to: caller.identity, earlier: earlier, in: transaction), part,
                in: transaction)
        }
    }
}

extension AuthorizedCircle {
    /// Returns the circle's imports that the caller may see, the latest first.
    package func imports(limit: Int, _ services: Services) throws -> [Imports.Listed] {
        try transaction.imports(in: id, for: user, after: nil, limit: limit)
            .map { try Imports.Listed($0, services, to: caller, in: transaction) }
    }

    /// Returns the report of one of the circle's imports; throws 404 for an import that the caller may not see.
    ///
    /// - Parameter earlier: the progress before the transaction began.
    package func report(
        of id: String, _ part: Imports.Part, earlier: ImportRegistry.Progress?, _ services: Services
    ) throws -> Imports.Report {
        try Imports.Report(
            try Imports.Listed(try `import`(id), services, to: caller, earlier: earlier, in: transaction), part,
            in: transaction)
    }
}

extension Imports.Report {
    /// The most bytes of problems in a report, and of items in one part of it.
    private static let mostProblemBytes = 1 << 20
    private static let mostItemBytes = 3 << 20

    fileprivate init(
        _ listed: Imports.Listed, _ part: Imports.Part, in transaction: any ReadTransaction
    ) throws {
        let record = listed.record
        var view = listed.shown
        var details: [ByteString: JSONValue] = [:]
        if !record.report.isEmpty { details = try JSONValue(parsing: Array(record.report.utf8)).object ?? [:] }
        self.listed = listed
        timeZones = view.part == .all ? details["timeZones"] ?? [] : []
        dropped = view.part == .all ? details["dropped"] ?? [] : []
        keep = details["keep"] ?? []
        let problems = try view.shown(details["problems"]?.array ?? [], of: record, in: transaction)
        self.problems = try problems[...].prefix(bytes: Self.mostProblemBytes)
        problemsLeftOut = problems.count - self.problems.count
        // This limits the number that a caller sends, so that adding to it cannot overflow.
        let start = min(max(0, part.start), 1 << 40)
        var shown: ArraySlice<JSONValue>
        var hasMore: Bool
        if record.stage == .reading || record.stage == .readFailed {
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
        next = hasMore ? start + shown.count : nil
    }
}

extension ArraySlice<JSONValue> {
    /// Returns the first elements within a number of bytes of text, and at least one element.
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
