// SPDX-License-Identifier: Apache-2.0

/// How many servers use the database.
package enum ServerSharing: String, CaseIterable, Sendable {
    /// One server, which is the only writer.
    case one
    /// Any number of equal servers, which share a PostgreSQL database (docs/nodes.md).
    case several
}
