// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    static let audit: [(String, Schema)] = [
        ("AuditEntry", AuditEntry.view.schema.described("One act, chained to the previous one."))
    ]
}
