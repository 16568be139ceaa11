// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Storage

extension Circle {
    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "timeZone": .string(timeZone),
            "createdAt": JSONValue(milliseconds: createdAt), "updatedAt": JSONValue(milliseconds: updatedAt),
        ]
    }
}

extension Member {
    var json: JSONValue {
        [
            "id": .string(userID), "circleId": .string(circleID), "displayName": .string(displayName),
            "role": .string(role.rawValue), "createdAt": JSONValue(milliseconds: createdAt),
            "updatedAt": JSONValue(milliseconds: updatedAt),
        ]
    }
}

extension Patient {
    var json: JSONValue {
        [
            "id": .string(id), "circleId": .string(circleID), "displayName": .string(displayName),
            "createdAt": JSONValue(milliseconds: createdAt), "updatedAt": JSONValue(milliseconds: updatedAt),
        ]
    }
}
