// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync

extension RemoteCalendar {
    var json: JSONValue {
        [
            "calendarId": .string(id), "name": .string(name), "color": JSONValue(color),
            "isPrimary": .bool(isPrimary), "canWrite": .bool(canWrite), "isOurs": .bool(isOurs),
        ]
    }
}

extension CalDAVAccount {
    /// The account that was found, without its credentials.
    var json: JSONValue {
        ["principal": .string(principal), "homes": .array(homes.map(JSONValue.string)), "name": JSONValue(name)]
    }
}
