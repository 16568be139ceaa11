// SPDX-License-Identifier: Apache-2.0

/// How many servers a database has.
package enum ServerSharing: String, CaseIterable, Sendable {
    /// One, which nobody writes beside.
    case one
    /// Any number of equal ones; the database is PostgreSQL's (docs/nodes.md).
    case several
}
