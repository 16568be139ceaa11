// SPDX-License-Identifier: Apache-2.0

import Storage

extension ActTarget<ImportRecord> {
    /// An import of a circle in which the caller has a right; the act changes nothing that a feed shows.
    static func `import`(_ id: String, _ right: Right, touchingNoFeed reason: StaticString) -> ActTarget {
        ActTarget(touchingNoCircle: reason) { transaction, caller in
            let (record, circle) = try Rights.import(id, for: caller.identity, right, in: transaction)
            return Opened(target: record, circle: circle.id)
        }
    }
}
