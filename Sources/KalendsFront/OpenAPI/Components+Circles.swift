// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    static let circles: [(String, Schema)] = [
        ("Circle", Circle.view.schema),
        (
            "CircleInput",
            .input(
                .required("name", .text()), .required("timeZone", .timeZone),
                example: ["name": "The Millers", "timeZone": "America/Los_Angeles"])
        ),
        ("Member", Member.view.schema),
        (
            "MemberInput",
            .input(
                .required("displayName", .text()), .required("role", .choice(Member.Role.self)),
                example: ["displayName": "Jane", "role": "member"])
        ),
        ("Patient", Patient.view.schema),
        ("PatientInput", .input(.required("displayName", .text()), example: ["displayName": "Mom"])),
    ]
}
