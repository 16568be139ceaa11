// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import OfficeDays

extension Components {
    static let officeDays: [(String, Schema)] = [
        (
            "OfficeSettingsInput",
            OfficeSettings.fields.schema(
                example: [
                    "enabled": .bool(true), "deviceTimeZone": "America/New_York", "target": ["feed": .bool(true)],
                ])
        ),
        ("OfficeSettings", OfficeSettings.view.schema),
        ("OfficeVisitInput", OfficeDayRoutes.visit.schema),
        ("OfficeVisit", OfficeDiary.ShownVisit.view.schema),
        ("OfficeDayInput", OfficeDayRoutes.day.schema),
        ("OfficeDay", OfficeDiary.ShownDay.view.schema),
        ("OfficeEvent", OfficeEvent.view.schema),
        ("OfficeStatus", OfficeDiary.Status.view.schema),
    ]
}
