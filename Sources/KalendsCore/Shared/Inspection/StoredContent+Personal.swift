// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
import FeedTokens
import ICalBridge
import OfficeDays
import Storage

/// Checks of what belongs to one person: their own events, the events planned on their phones, and their office days.
extension StoredContent {
    static func check(zone: String?) throws {
        if let zone { try require(TimeZoneReference(zone) != nil, "its time zone is unknown") }
    }

    /// Checks the original start of a changed occurrence and the dates of a series, beyond the checks that apply to all
    /// events.
    static func checkPlaces(of event: PersonalEvent) throws {
        if let text = event.content.recurrence, let recurrence = PersonalRecurrence(stored: text) {
            try require(
                (recurrence.exceptions + recurrence.additions).allSatisfy { PersonalMoment($0) != nil },
                "its recurrence has a date that is not valid")
        }
        try require(
            event.mapping.instanceID.map { PersonalMoment($0) != nil } ?? true, "its original start is not valid")
    }

    static func check(_ tie: PersonalEvent.ItemAndDevice) throws {
        try require(ItemKey.Collection(text: tie.collection) != nil, "what it shows is of an unknown kind")
        for version in try PhoneVersions(tie).all {
            try require(
                CivilDate(iso: version.content.date) != nil,
                "what a device may still have of it is not as Kalends writes it")
        }
    }

    static func check(_ event: PlannedEvent) throws {
        try require(event.startsAt <= event.endsAt, "it ends before it starts")
    }

    static func check(_ resource: OwnResource) throws {
        let etag = ContentHash(of: SHA256.hash(data: Array(resource.text.utf8))).text
        try require(
            resource.etag.isSameText(as: etag) && resource.size == resource.text.utf8.count,
            "its text is not the one that its ETag names")
        if !resource.shown.isEmpty { _ = try OwnEvents.events(Array(resource.shown.utf8)) }
    }

    static func check(_ profile: OfficeProfile) throws {
        let settings: OfficeSettings = try OfficeStored.read(profile.settings)
        try checkNumbers(of: profile.settings)
        try require(
            settings.faults { TimeZoneReference($0) != nil }.isEmpty, "its settings are not valid ones")
        try require(
            profile.problem.map { OfficeProblem(text: $0) != nil } ?? true, "its problem is of an unknown kind")
    }

    static func check(_ day: OfficeDayRecord) throws {
        _ = try day.word.map(OfficeStored.status)
        let _: DecidedDay? = try day.decision.map { try OfficeStored.read($0) }
        if let decision = day.decision { try checkNumbers(of: decision) }
    }
}
