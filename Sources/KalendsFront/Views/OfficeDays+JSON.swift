// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import KalendsCore
import OfficeDays
import Storage

extension OfficeSettings {
    var json: JSONValue {
        [
            "enabled": .bool(enabled), "target": target.json, "officeTitle": .string(officeTitle),
            "remoteTitle": .string(remoteTitle), "eventType": .string(eventType.rawValue),
            "availability": .string(availability.rawValue), "timeZoneMode": .string(timeZoneMode.rawValue),
            "deviceTimeZone": JSONValue(deviceTimeZone), "homeOfficeTimeZone": JSONValue(homeOfficeTimeZone),
            "officeHours": [
                "start": .string(OfficeHours.text(officeHours.start)),
                "end": .string(OfficeHours.text(officeHours.end)),
            ],
            "trackedDays": .array(OfficeWeekday.allCases.filter(trackedDays.contains).map { .string($0.rawValue) }),
            "holidays": .array(holidays.sorted().map { .string($0.description) }),
            "holidayCalendar": JSONValue(holidayCalendar), "createRemoteEvents": .bool(createRemoteEvents),
            "monthlyGoal": .integer(monthlyGoal), "officeAddress": JSONValue(officeAddress),
        ]
    }
}

extension OfficeSettings.Target {
    fileprivate var json: JSONValue {
        switch self {
        case .feed: ["feed": true]
        case .device: ["device": true]
        case .connection(let id): ["connectionId": .string(id)]
        }
    }
}

extension OfficeDiary.ShownDay {
    var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "date": .string(day.date.description), "status": .string(day.status.rawValue),
            "source": JSONValue(day.source?.rawValue), "officeMinutes": .integer(day.officeMinutes),
        ]
        if let event = day.event { members["event"] = event.json(clock) }
        return .object(members)
    }
}

extension OfficeEvent {
    fileprivate func json(_ clock: any OfficeClock) -> JSONValue {
        let (start, end): (String, String) =
            switch span {
            case .allDay(let date): (date.description, date.adding(days: 1).description)
            case .timed(let start, let end, _): (clock.rfc3339(start), clock.rfc3339(end))
            }
        return [
            "uid": .string(uid), "title": .string(title), "start": .string(start), "end": .string(end),
            "allDay": .bool(isAllDay), "state": .string(state.rawValue),
            "availability": .string(availability.rawValue), "location": JSONValue(location), "notes": .string(notes),
        ]
    }
}

extension OfficeDiary.ShownVisit {
    var json: JSONValue {
        [
            "id": .string(visit.id), "startAt": .string(clock.rfc3339(visit.startsAt / 1000)),
            "endAt": .string(clock.rfc3339(visit.endsAt / 1000)),
            "createdAt": JSONValue(milliseconds: visit.createdAt),
            "updatedAt": JSONValue(milliseconds: visit.updatedAt),
        ]
    }
}

extension OfficeDiary.Status {
    var json: JSONValue {
        [
            "state": .string(state.rawValue), "banner": banner?.json ?? .null,
            "lastSyncAt": JSONValue(milliseconds: profile.lastSyncAt),
            "lastSyncStatus": JSONValue(profile.lastSync?.rawValue),
            "enabledAt": JSONValue(milliseconds: profile.enabledAt),
            "counts": [
                "officeDaysThisMonth": .integer(counts.office), "remoteDaysThisMonth": .integer(counts.remote),
                "monthlyGoal": .integer(goal), "managed": .integer(counts.managed),
                "unmanaged": .integer(counts.unmanaged), "removed": .integer(counts.removed),
                "writes": .integer(profile.writes), "errors": .integer(profile.errors),
            ],
        ]
    }
}

extension OfficeBanner {
    fileprivate var json: JSONValue {
        [
            "problem": .string(problem.rawValue), "text": .string(text), "button": .string(button),
            "action": .string(action.rawValue),
        ]
    }
}

extension OfficeClock {
    /// The instant in RFC 3339, with the zone's offset at that instant.
    fileprivate func rfc3339(_ second: Int) -> String {
        Instant(seconds: second).rfc3339(offset: secondsEast(at: second))
    }
}
