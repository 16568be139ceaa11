// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

extension Components {
    static let imports: [(String, Schema)] = [
        ("Import", Imports.Listed.schema), ("ImportReport", Imports.Report.view.schema),
        ("ImportProblem", Problem.schema), ("ImportItem", Imports.Item.schema),
        ("ImportByURL", ImportBody.address.schema), ("ImportUpload", .object([.required("file", .bytes)])),
        ("ImportCommit", ImportRoutes.body.schema),
    ]
}
