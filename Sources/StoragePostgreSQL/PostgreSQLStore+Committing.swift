// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Storage
internal import Synchronization

extension PostgreSQLStore {
    /// Commits a write, and finds out the outcome when the server does not report it.
    func commit(_ slot: inout Session?, _ session: Session, _ number: String?) throws {
        do {
            guard try session.commit() else {
                // The server reports a rollback when an earlier statement has failed.
                throw StorageError.refused(state: "25P02")
            }
            // The change is stored, but a required standby may not have it.
            if session.takeWarnings() > 0 { throw StorageError.outcomeUnknown }
        } catch let failure as SessionFailure {
            guard case .lost = failure else { throw failure }
            slot = nil
            // A server that warns before it ends the session may have stored what no standby has.
            let isWarned = session.takeWarnings() > 0
            guard let number, let isKept = outcome(of: number, serverStart: session.serverStart, isWarned: isWarned)
            else { throw StorageError.outcomeUnknown }
            guard isKept else { throw failure }
        }
    }

    /// Asks in a new session whether a transaction was committed; nil when that cannot be found out.
    ///
    /// A number that was lost with its server is used again, by a promoted standby or by the same server after its
    /// restart. The success of that transaction says nothing about ours. Nor does anything that a server says which was
    /// replaced: it may not know our transaction, or its end.
    ///
    /// - Parameters:
    ///   - serverStart: when the server that assigned the number was started.
    ///   - isWarned: whether the server sent a warning before it ended the session.
    ///   - patience: how long the question is repeated.
    func outcome(
        of number: String, serverStart: String?, isWarned: Bool, for patience: Duration = patience
    ) -> Bool? {
        let deadline = ContinuousClock.now + patience
        repeat {
            if let session = try? maker.session(), let status = try? Self.status(of: number, session),
                !status.isSameText(as: "in progress")
            {
                guard confirms(session, until: deadline) else {
                    // It may have been replaced, and the next host may be the one that counts.
                    if !confirmations.isLed(by: session) { maker.tryNextHost() }
                    pause(.milliseconds(100))
                    continue
                }
                switch status {
                case "committed": return session.serverStart == serverStart && !isWarned ? true : nil
                case "aborted": return false
                default: return nil
                }
            }
            pause(.milliseconds(100))
        } while ContinuousClock.now < deadline
        return nil
    }

    /// Returns a transaction's status in the words of PostgreSQL, which has `in progress` as long as its session runs; empty
    /// for one that was too long ago.
    private static func status(of number: String, _ session: Session) throws(SessionFailure) -> String {
        do {
            return (try session.run("SELECT pg_xact_status('\(number)'::xid8)").first?.first ?? nil) ?? ""
        } catch .refused(state: "22023", words: _) {
            // The number has not been assigned yet: the transaction that had it was lost.
            return "aborted"
        }
    }

    /// Whether a session is with the server that confirms what ended, asked after whatever the session said before.
    private func confirms(_ session: Session, until deadline: ContinuousClock.Instant) -> Bool {
        guard use == .shared else { return true }
        let answered = DispatchSemaphore(value: 0)
        let isConfirmed = Atomic(false)
        confirm { answer in
            if case .success = answer { isConfirmed.store(true, ordering: .releasing) }
            answered.signal()
        }
        let left = max(.zero, deadline - .now) / .milliseconds(1)
        guard answered.wait(timeout: .now() + .milliseconds(Int(left))) == .success else { return false }
        return isConfirmed.load(ordering: .acquiring) && confirmations.isLed(by: session)
    }
}
