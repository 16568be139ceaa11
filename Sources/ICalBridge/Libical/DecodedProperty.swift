// SPDX-License-Identifier: Apache-2.0

internal import CLibical

/// One property as libical decoded it.
struct DecodedProperty: Sendable {
    /// The properties that libical decodes; all others stay text.
    enum Field: String, Sendable {
        case uid = "UID"
        case summary = "SUMMARY"
        case description = "DESCRIPTION"
        case location = "LOCATION"
        case url = "URL"
        case categories = "CATEGORIES"
        case sequence = "SEQUENCE"
        case start = "DTSTART"
        case end = "DTEND"
        case due = "DUE"
        case duration = "DURATION"
        case recurrenceID = "RECURRENCE-ID"
        case exclusion = "EXDATE"
        case addition = "RDATE"
        case timestamp = "DTSTAMP"
        case created = "CREATED"
        case lastModified = "LAST-MODIFIED"
        case trigger = "TRIGGER"
    }

    enum Value: Sendable {
        case text(String)
        case integer(Int)
        case date(CivilDate)
        case dateTime(CivilDateTime, isUTC: Bool)
        case duration(ICalDuration)
        /// A period with an end, or with a duration.
        case period(CivilDateTime, end: CivilDateTime?, duration: ICalDuration, isUTC: Bool)
    }

    var field: Field
    var value: Value
    /// The number of the opaque zone id (`Z1` is 1) that the property names.
    var zone: Int?
}

extension DecodedProperty {
    /// Returns nil for a property that is not decoded or whose value libical cannot return.
    init?(copying property: OpaquePointer) {
        // Proof: `property` and everything its accessors return live as long as the component that the caller holds;
        // strings and structs are copied before this returns.
        guard let field = unsafe Self.field(of: icalproperty_isa(property)),
            let raw = unsafe icalproperty_get_value(property),
            let value = unsafe Self.value(of: raw, in: property)
        else { return nil }
        self.field = field
        self.value = value
        if let parameter = unsafe icalproperty_get_first_parameter(property, ICAL_TZID_PARAMETER),
            let name = unsafe icalparameter_get_tzid(parameter)
        {
            zone = unsafe Int(String(cString: name).fromOutside.dropFirst())
        }
    }

    private static func field(of kind: icalproperty_kind) -> Field? {
        switch kind {
        case ICAL_UID_PROPERTY: .uid
        case ICAL_SUMMARY_PROPERTY: .summary
        case ICAL_DESCRIPTION_PROPERTY: .description
        case ICAL_LOCATION_PROPERTY: .location
        case ICAL_URL_PROPERTY: .url
        case ICAL_CATEGORIES_PROPERTY: .categories
        case ICAL_SEQUENCE_PROPERTY: .sequence
        case ICAL_DTSTART_PROPERTY: .start
        case ICAL_DTEND_PROPERTY: .end
        case ICAL_DUE_PROPERTY: .due
        case ICAL_DURATION_PROPERTY: .duration
        case ICAL_RECURRENCEID_PROPERTY: .recurrenceID
        case ICAL_EXDATE_PROPERTY: .exclusion
        case ICAL_RDATE_PROPERTY: .addition
        case ICAL_DTSTAMP_PROPERTY: .timestamp
        case ICAL_CREATED_PROPERTY: .created
        case ICAL_LASTMODIFIED_PROPERTY: .lastModified
        case ICAL_TRIGGER_PROPERTY: .trigger
        default: nil
        }
    }

    private static func value(of raw: OpaquePointer, in property: OpaquePointer) -> Value? {
        switch unsafe icalvalue_isa(raw) {
        case ICAL_TEXT_VALUE:
            unsafe icalvalue_get_text(raw).map { unsafe .text(String(cString: $0).fromOutside) }
        case ICAL_URI_VALUE:
            unsafe icalvalue_get_uri(raw).map { unsafe .text(String(cString: $0).fromOutside) }
        case ICAL_INTEGER_VALUE:
            unsafe .integer(Int(icalvalue_get_integer(raw)))
        case ICAL_DATE_VALUE:
            unsafe time(icalvalue_get_date(raw))
        case ICAL_DATETIME_VALUE:
            unsafe time(icalvalue_get_datetime(raw))
        case ICAL_DURATION_VALUE:
            .duration(length(unsafe icalvalue_get_duration(raw)))
        case ICAL_TRIGGER_VALUE:
            unsafe trigger(icalvalue_get_trigger(raw))
        case ICAL_PERIOD_VALUE:
            unsafe period(icalvalue_get_period(raw))
        case ICAL_DATETIMEPERIOD_VALUE:
            unsafe dateTimePeriod(icalvalue_get_datetimeperiod(raw))
        default: nil
        }
    }

    private static func trigger(_ value: icaltriggertype) -> Value? {
        unsafe icaltime_is_null_time(value.time) != 0 ? .duration(length(value.duration)) : time(value.time)
    }

    private static func dateTimePeriod(_ value: icaldatetimeperiodtype) -> Value? {
        unsafe icaltime_is_null_time(value.time) != 0 ? period(value.period) : time(value.time)
    }

    private static func period(_ value: icalperiodtype) -> Value? {
        guard let start = unsafe wall(value.start) else { return nil }
        let hasEnd = unsafe icaltime_is_null_time(value.end) == 0
        return .period(
            start, end: hasEnd ? unsafe wall(value.end) : nil, duration: length(unsafe value.duration),
            isUTC: unsafe icaltime_is_utc(value.start) != 0)
    }

    private static func time(_ value: icaltimetype) -> Value? {
        if unsafe value.is_date != 0 {
            return unsafe CivilDate(year: Int(value.year), month: Int(value.month), day: Int(value.day)).map {
                .date($0)
            }
        }
        guard let wall = unsafe wall(value) else { return nil }
        return .dateTime(wall, isUTC: unsafe icaltime_is_utc(value) != 0)
    }

    private static func wall(_ value: icaltimetype) -> CivilDateTime? {
        guard let date = unsafe CivilDate(year: Int(value.year), month: Int(value.month), day: Int(value.day)) else {
            return nil
        }
        return unsafe CivilDateTime(
            date: date, hour: Int(value.hour), minute: Int(value.minute), second: Int(value.second))
    }

    private static func length(_ value: icaldurationtype) -> ICalDuration {
        let sign = value.is_neg != 0 ? -1 : 1
        return ICalDuration(
            days: sign * (Int(value.weeks) * 7 + Int(value.days)),
            seconds: sign * (Int(value.hours) * 3600 + Int(value.minutes) * 60 + Int(value.seconds)))
    }
}
