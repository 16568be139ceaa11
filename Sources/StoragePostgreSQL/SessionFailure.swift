// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// The reason why a session did not do what it was asked.
enum SessionFailure: Error, Hashable {
    /// The connection is lost, or no answer came in time.
    case lost(String)
    /// The server refused; `words` are its own, and contain no value of a statement when it reports a broken
    /// constraint.
    case refused(state: String, words: String)

    /// Whether the same transaction may succeed when it is run again: it collided with another one, or with a plan from
    /// before a change of the schema.
    var isPassing: Bool {
        guard case .refused(let state, let words) = self else { return false }
        return switch state {
        case "40001", "40P01", "55P03": true
        case "0A000": words.contains("cached plan")
        default: false
        }
    }

    /// Whether the session has ended, or its server no longer serves.
    ///
    /// - Parameter isWrite: whether it is a write, for which a read-only server is the wrong one.
    func endsSession(isWrite: Bool) -> Bool {
        switch self {
        case .lost: true
        case .refused(let state, _):
            state.hasPrefix("08") || state.hasPrefix("57P") || state.hasPrefix("53") && state != "53100"
                || isWrite && state == "25006"
        }
    }

    /// The failure as the rest of the program sees it, without types, statements or values.
    var inOurWords: StorageError {
        guard case .refused(let state, let words) = self else {
            if case .lost(let reason) = self { return .unreachable(reason) }
            return .unreachable("the connection is lost")
        }
        return switch state {
        case "40001", "40P01", "55P03": .contended
        case "53100": .diskFull
        case "57014": .unreachable("it did not answer in time")
        case "25006", "57P01", "57P02", "57P03", "53200", "53300", "53400": .unreachable(words)
        // A prepared statement belongs to another session, or one of ours is missing.
        case "42P05", "26000":
            .unusable("What is between this program and PostgreSQL pools transactions; PgBouncer has to pool sessions.")
        case let state where state.hasPrefix("08"): .unreachable(words)
        case let state where state.hasPrefix("23"): .contradiction(words)
        default: .refused(state: state)
        }
    }
}
