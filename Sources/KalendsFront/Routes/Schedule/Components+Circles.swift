// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    static let circles: [(String, Schema)] = [
        ("Circle", Circle.view.schema),
        ("CircleInput", CircleRoutes.body.schema),
        ("Member", Member.view.schema),
        ("MemberInput", MemberRoutes.body.schema),
        ("Patient", Patient.view.schema),
        ("PatientInput", PatientRoutes.body.schema),
    ]
}
