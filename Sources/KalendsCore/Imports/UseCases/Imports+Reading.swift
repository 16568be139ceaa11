// SPDX-License-Identifier: Apache-2.0

import Storage

extension Imports {
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

    /// Lists the imports into a circle that the caller may see, the latest first.
    ///
    /// - Parameters:
    ///   - cursor: the place of the import after which the part begins.
    ///   - show: makes the result with a function that fetches up to a given number of imports after a given one, nil
    ///     for the part's first ones, since reports may be large; it must have no effects.
    package func list<Shown: Sendable>(
        in circle: String, for caller: Caller, after cursor: (createdAt: Int, id: String)?,
        _ show: @escaping @Sendable (_ fetch: (_ last: Listed?, _ count: Int) throws -> [Listed]) throws -> Shown
    ) async throws -> Shown {
        try await context.acts.readPage(for: caller) { transaction in
            let circle = try Rights.authorized(circle, for: caller.identity, in: transaction)
            return try show { last, count in
                let position = last.map { ($0.createdAt.milliseconds, $0.id) } ?? cursor
                return try circle.imports(after: position, limit: count, context)
            }
        }
    }

    /// Returns the report of an import with its state; throws 404 for an import that the caller may not see.
    package func report(_ id: String, for caller: Caller, _ part: Part) async throws -> Report {
        let earlier = context.registry.progress(id)
        return try await context.acts.readPage(for: caller) { transaction in
            let (record, circle) = try Rights.import(id, for: caller.identity, .read, in: transaction)
            return try Report(record, part, earlier: earlier, context, in: circle)
        }
    }
}

extension AuthorizedCircle {
    /// Returns the circle's imports that the caller may see, the latest first.
    package func imports(
        after cursor: (createdAt: Int, id: String)? = nil, limit: Int, _ context: ImportContext
    ) throws -> [Imports.Listed] {
        try transaction.imports(in: id, for: user, after: cursor, limit: limit)
            .map { try Imports.Listed($0, context, in: self) }
    }

    /// Returns the report of one of the circle's imports; throws 404 for an import that the caller may not see.
    ///
    /// - Parameter earlier: the progress before the transaction began.
    package func report(
        of id: String, _ part: Imports.Part, earlier: ImportRegistry.Progress?, _ context: ImportContext
    ) throws -> Imports.Report {
        try Imports.Report(try `import`(id), part, earlier: earlier, context, in: self)
    }
}

extension Imports.Listed {
    /// - Parameter earlier: the progress before the transaction began: an import that has ended since is still under
    ///   way in the transaction, and the registry knows nothing more of it.
    fileprivate init(
        _ record: ImportRecord, earlier: ImportRegistry.Progress? = nil, _ context: ImportContext,
        in circle: AuthorizedCircle
    ) throws {
        self.init()
        let part = ImportShown(record, to: circle.caller).part
        (id, circleID, userID) = (record.id, record.circleID, record.importedBy)
        createdAt = Moment(milliseconds: record.createdAt)
        committedAt = record.committedAt.map(Moment.init(milliseconds:))
        undoneAt = record.undoneAt.map(Moment.init(milliseconds:))
        if let outline = try record.outline.map(Imports.Outline.init(stored:)) {
            counts = outline.counts
            if part == .all || outline.isShared { span = outline.span }
        }
        switch record.stage {
        case nil:
            state =
                switch record.state {
                case .previewed: .previewed
                case .committed: .committed
                case .undone: .undone
                }
            progress = 1
        case .reading, .committing:
            var known = context.registry.progress(id) ?? earlier
            if known == nil, context.leases.isShared {
                known = try circle.transaction.leaseNote(ImportRecord.leaseName(id)).flatMap(
                    ImportRegistry.Progress.init(note:))
            }
            let isReading = known.map { $0.phase == .reading } ?? (record.stage == .reading)
            state = isReading ? .reading : .committing
            progress = ((known?.part ?? 0) * 1000).rounded() / 1000
        case .readFailed, .commitFailed, .forgotten:
            state = .failed
            canBeCommittedAgain = record.stage == .commitFailed
            // The reason may name lines of the file.
            problem = part == .all ? try record.problem.map { try JSONValue(parsing: $0.utf8) } ?? .null : .null
        }
    }
}

extension Imports.Report {
    /// The maximum number of bytes of problems in a report, and of items in one part of it.
    private static let mostProblemBytes = 1 << 20
    private static let mostItemBytes = 3 << 20

    fileprivate init(
        _ record: ImportRecord, _ asked: Imports.Part, earlier: ImportRegistry.Progress?, _ context: ImportContext,
        in circle: AuthorizedCircle
    ) throws {
        self.init()
        let transaction = circle.transaction
        listed = try Imports.Listed(record, earlier: earlier, context, in: circle)
        var view = ImportShown(record, to: circle.caller)
        let details = record.report.isEmpty ? Imports.Details() : try Imports.Details(stored: record.report)
        (keep, todos, shown) = (details.keep, details.todos, view.part)
        if shown == .all { (timeZones, dropped) = (details.timeZones, details.dropped) }
        let found = try view.shown(details.problems, of: record, in: transaction)
        problems = try found[...].prefix(bytes: Self.mostProblemBytes)
        problemsLeftOut = found.count > problems.count ? found.count - problems.count : nil
        // This limits the number that a caller sends, so that adding to it cannot overflow.
        let (start, limit) = (min(max(0, asked.start), 1 << 40), asked.limit)
        var part: ArraySlice<Marked<Imports.Item>>
        var hasMore: Bool
        if record.stage == .reading || record.stage == .readFailed {
            (part, hasMore) = ([], false)
        } else {
            let blocks = try transaction.importItems(of: record, start..<start + limit + 1)
            let all = try blocks.flatMap { try [Marked<Imports.Item>](stored: $0.items) }
            let rest = all.dropFirst(start - (blocks.first?.first ?? start))
            part = rest.prefix(limit)
            hasMore = rest.count > part.count
        }
        let fitting = try part.prefix(bytes: Self.mostItemBytes)
        if fitting.count < part.count { (part, hasMore) = (fitting[...], true) }
        items = try view.shown(Array(part), of: record, in: transaction)
        next = hasMore ? start + part.count : nil
    }
}

extension ArraySlice where Element: JSONPart {
    /// Returns the first elements within a number of bytes of text, and at least one element.
    fileprivate func prefix(bytes most: Int) throws -> [Element] {
        var (kept, text): ([Element], JSONText) = ([], JSONText())
        for element in self {
            try element.write(to: &text)
            text.append(",")
            guard text.bytes.count <= most || kept.isEmpty else { break }
            kept.append(element)
        }
        return kept
    }
}
