// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Logging
import Outbound
import Storage

/// Imports of files: previewed first, then committed, and undone if wanted.
package struct Imports: Sendable {
    let context: ImportContext

    package enum Mode: String, CaseIterable, Sendable { case preview, commit }

    /// The options of an import that do not change its result.
    package struct Options: Sendable {
        /// Whether the work continues after the response, which then shows the progress.
        package let isInBackground: Bool
        /// Where failures are logged that no response reports.
        package let logger: Logger
        /// Makes the stored text of a failure, for callers who ask for the import later: the text that the response
        /// would show.
        package let text: @Sendable (Refusal) throws -> String

        package init(isInBackground: Bool, logger: Logger, text: @escaping @Sendable (Refusal) throws -> String) {
            self.isInBackground = isInBackground
            self.logger = logger
            self.text = text
        }
    }

    /// Imports a file, or only previews it.
    ///
    /// Throws 404 and 403 by the caller's rights, 429 when too much is being received, and 422 for a file that cannot
    /// be used.
    ///
    /// - Parameters:
    ///   - sender: the sender whose quota the bytes count against.
    ///   - receive: receives the file once it is admitted; the memory that it keeps counts against the holding.
    package func create(
        in circleID: String, for caller: Caller, from sender: Sender, _ mode: Mode,
        choosing choice: ImportChoice = ImportChoice(), _ options: Options, _ part: Part,
        receive: (FairPool.Holding) async throws -> ImportUpload
    ) async throws -> Report {
        _ = try await context.store.read { try Rights.circle(circleID, for: caller.identity, .write, in: $0) }
        let admission = try context.intake.files.enter(sender)
        let upload = try await receive(admission)
        let id = FeedLedger.makeID()
        // The lease is taken before the import is noted as in progress: without a lease it would look as if a server
        // had stopped during it.
        let held = try await context.leases.take(ImportRecord.leaseName(id))
        let work = try await givingBack(held) {
            try await ImportWork.begin(
                id, in: circleID, for: caller, choosing: choice, bytes: upload.spool.count, context)
        }
        let run = { @Sendable in
            try await keeping(held, id) {
                switch mode {
                case .preview: try await work.preview(upload)
                case .commit: try await work.commit(upload)
                }
            }
            withExtendedLifetime(admission) {}
        }
        if options.isInBackground {
            try await givingBack(held) { try start(id, options, run) }
            return try await report(id, for: caller, part)
        }
        defer { context.registry.forget(id) }
        do {
            try await run()
        } catch {
            // A committed import stays: another failure may come after it, such as a lease that was not renewed.
            let isForgotten = try? await context.store.record { transaction in
                guard try transaction.importRecord(id)?.state == .previewed else { return false }
                try transaction.forgetImport(id)
                return true
            }
            if isForgotten == true { context.tidying.afterForgetting(id) }
            throw error
        }
        return try await report(id, for: caller, part)
    }

    /// Runs the beginning of work under a lease, which is given back if it fails.
    private func givingBack<Value: Sendable>(
        _ held: HeldLease?, _ begin: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await begin()
        } catch {
            if let held { await context.leases.giveBack(held) }
            throw error
        }
    }

    /// Commits a preview without some of its items; throws 409 when the import is no longer a preview.
    ///
    /// - Parameters:
    ///   - excluded: the ids of the items to leave out.
    package func commit(
        _ id: String, for caller: Caller, excluding excluded: Set<ByteString>,
        choosing choice: ImportChoice = ImportChoice(),
        _ options: Options, _ part: Part
    ) async throws -> Report {
        let held = try await context.leases.take(ImportRecord.leaseName(id))
        let isHeld = held != nil || !context.leases.isShared
        let work = try await givingBack(held) {
            try await ImportWork.resume(id, for: caller, choosing: choice, isHeld: isHeld, context)
        }
        let run = { @Sendable in try await keeping(held, id) { try await work.commit(excluding: excluded) } }
        if options.isInBackground {
            try await givingBack(held) { try start(id, options, run) }
            return try await report(id, for: caller, part)
        }
        defer { context.registry.forget(id) }
        do {
            try await run()
        } catch StorageError.leaseLost {
            // Another server found the import abandoned and noted that, so it may already be committed again.
            throw StorageError.leaseLost
        } catch {
            await letGo(of: id)
            throw error
        }
        return try await report(id, for: caller, part)
    }

    /// Turns an import that was not committed back into a preview.
    private func letGo(of id: String) async {
        let release: @Sendable (any WriteTransaction) throws -> Void = { transaction in
            if try transaction.importRecord(id)?.stage == .committing { try transaction.setStage(nil, ofImport: id) }
        }
        do {
            try await context.store.record(release)
        } catch {
            // The cause that prevents the commit may also prevent this change.
            let (store, isShared) = (context.store, context.leases.isShared)
            try? context.registry.start(id) { try? await Self.record(in: store, isShared: isShared, release) }
        }
    }

    /// Stores the result of an import as soon as the database accepts it, for up to ten minutes: nothing else would do
    /// so until the next start.
    ///
    /// - Parameter isShared: whether there are other servers, which note abandoned imports; then this tries only once.
    private static func record<Value: Sendable>(
        in store: any Store, isShared: Bool, _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        var triesLeft = isShared ? 0 : 600
        while true {
            do {
                return try await store.record(body)
            } catch let error as StorageError {
                guard triesLeft > 0 else { throw error }
                triesLeft -= 1
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Does an import's work under its lease, through which other servers read the progress.
    private func keeping<Value: Sendable>(
        _ held: HeldLease?, _ id: String, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let registry = context.registry
        return try await context.leases.keeping(
            held, every: .seconds(1), noting: { registry.progress(id)?.note ?? "" }, work)
    }

    /// Restores the state before an import; items that were changed since then stay as they are and are reported.
    package func undo(_ id: String, for caller: Caller, _ part: Part) async throws -> Report {
        let kept = try await ImportUndo(context: context, caller: caller).undo(id)
        var report = try await report(id, for: caller, part)
        (report.kept, report.keptCount) = (kept.items, kept.count)
        return report
    }

    /// Discards a preview; throws 409 for an import that is being read or committed, or was committed.
    package func discard(_ id: String, for caller: Caller) async throws {
        try await context.acts.act(
            on: .import(id, .write, touchingNoFeed: "No feed shows anything from a preview."), for: caller
        ) { act in
            guard act.target.state == .previewed, act.target.stage != .reading, act.target.stage != .committing else {
                throw Refusal.importState("Only a preview can be discarded.")
            }
            try act.transaction.forgetImport(id)
            return .unnoted("Events that were never brought in leave no trace.", ())
        }
        context.tidying.afterForgetting(id)
    }

    /// Fetches the file of an import; throws 422 for an address that has none.
    ///
    /// - Parameter address: the address as it was given; it is used once and not stored.
    package func fetch(_ address: String, _ admission: FairPool.Holding) async throws -> ImportUpload {
        let fetcher = context.fetcher
        guard case .calendar(let found) = try await fetcher.fetch(url: try fetcher.url(address), for: admission) else {
            throw OutboundFailure.garbled.refusal
        }
        return found.upload
    }

    /// Lets work continue after the response; the result is stored in the import.
    private func start(
        _ id: String, _ options: Options, _ work: @escaping @Sendable () async throws -> Void
    ) throws {
        let (store, tidying, logger) = (context.store, context.tidying, options.logger)
        let isShared = context.leases.isShared
        try context.registry.start(id) {
            do {
                try await work()
            } catch StorageError.leaseLost {
                // Another server found the import abandoned and noted that, so it may already be committed again.
                logger.warning("an import was given up: its lease was lost")
            } catch {
                guard !Task.isCancelled, let refusal = ImportFailure.refusal(error, logger),
                    let problem = try? options.text(refusal)
                else { return }
                do {
                    let circle = try await Self.record(in: store, isShared: isShared) { transaction in
                        try transaction.failImport(id, problem: problem)
                        return try transaction.importRecord(id)?.circleID
                    }
                    if let circle { tidying.afterImport(id, in: circle) }
                } catch {
                    logger.error("import failed", metadata: ["error": "\(publicText(error))"])
                }
            }
        }
    }
}

extension Refusal {
    /// 409 for an action that the import's current state does not allow.
    static func importState(_ detail: String) -> Refusal { .conflict(detail, code: .importState) }
}
