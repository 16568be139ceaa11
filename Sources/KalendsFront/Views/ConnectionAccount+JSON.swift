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
    /// What was found, without what opens it.
    var json: JSONValue {
        ["principal": .string(principal), "homes": .array(homes.map(JSONValue.string)), "name": JSONValue(name)]
    }
}
