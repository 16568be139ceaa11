// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Components {
    static let reach: [(String, Schema)] = [
        (
            "Reach",
            Reach.Shown.view.schema
                .described("The calendars that show an item, and whether they have its latest change.")
        )
    ]
}
