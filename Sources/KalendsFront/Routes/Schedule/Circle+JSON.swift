// SPDX-License-Identifier: Apache-2.0

import Storage

extension Circle: Viewed {
    static let view = View<Circle>([
        .id("id", \.id), .text("name", \.name), .text("timeZone", \.timeZone), .instant("createdAt", \.createdAt),
        .instant("updatedAt", \.updatedAt),
    ])
}

extension Member: Viewed {
    static let view = View<Member>([
        .id("id", \.userID), .id("circleId", \.circleID), .text("displayName", \.displayName),
        .choice("role", \.role), .instant("createdAt", \.createdAt), .instant("updatedAt", \.updatedAt),
    ])
}

extension Patient: Viewed {
    static let view = View<Patient>([
        .id("id", \.id), .id("circleId", \.circleID), .text("displayName", \.displayName),
        .instant("createdAt", \.createdAt), .instant("updatedAt", \.updatedAt),
    ])
}
