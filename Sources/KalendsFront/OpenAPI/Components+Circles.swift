// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Components {
    static let circles: [(String, Schema)] = [
        (
            "Circle",
            .output(
                .required("id", .identifier), .required("name", .string), .required("timeZone", .string),
                .required("createdAt", .instant), .required("updatedAt", .instant))
        ),
        (
            "CircleInput",
            .input(
                .required("name", .text()), .required("timeZone", .timeZone),
                example: ["name": "The Millers", "timeZone": "America/Los_Angeles"])
        ),
        (
            "Member",
            .output(
                .required("id", .identifier), .required("circleId", .identifier), .required("displayName", .string),
                .required("role", .choice(Member.Role.self)), .required("createdAt", .instant),
                .required("updatedAt", .instant))
        ),
        (
            "MemberInput",
            .input(
                .required("displayName", .text()), .required("role", .choice(Member.Role.self)),
                example: ["displayName": "Jane", "role": "member"])
        ),
        (
            "Patient",
            .output(
                .required("id", .identifier), .required("circleId", .identifier), .required("displayName", .string),
                .required("createdAt", .instant), .required("updatedAt", .instant))
        ),
        ("PatientInput", .input(.required("displayName", .text()), example: ["displayName": "Mom"])),
    ]
}
