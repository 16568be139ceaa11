// SPDX-License-Identifier: Apache-2.0

extension Sentence {
    /// What a sentence says; each language has words for each of them, and a code keeps its meaning.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        // Files as a whole.
        case fileIsJCal, fileIsJSON, fileIsWebPage, fileIsXML, fileIsAddressBook, fileEmpty, fileIsBinary, fileIsText,
            fileWithoutEntries, entriesUnreadable, calendarUnreadable, jCalUnreadable, xCalUnreadable, tableUnreadable,
            inLine, tableNotUTF8, xmlNotUTF8, tableCellOpen, tableWithoutStart, jCalNotArray, xCalEmpty, formTooDeep,
            formTooLarge, fileTooLarge, moreProblems, kindNotImported, tooManyEntries
        // Calendars as JSON and XML.
        case jCalComponent, jCalComponents, jCalProperty, jCalParameter, jCalValue, xCalRoot,
            xCalComponent, xCalProperty, xCalParameter, xCalValue, xmlDocumentType, xmlAfterEnd, xmlEnds,
            xmlTextOutside, xmlAmpersand, xmlEntityUnknown, xmlTooDeep, xmlLessThan, xmlEndsInTag,
            xmlAttributeWithoutValue, xmlAttributeUnquoted, xmlTooManyNamespaces, xmlTagOpen, xmlTagAttributes,
            xmlAttributeTwice, xmlAttributeLessThan, xmlPrefixUnbound, xmlNameTwoPrefixes, xmlSectionEnd, xmlEndTag,
            xmlDeclaration, xmlControlCharacter, xmlTooManyElements, xmlPrefixUndeclared
        // What is not imported.
        case newerInFile, uidTooLong, excluded, eventTooLarge, seriesTooLong, sameUnderOtherUID, privateUnseen,
            storedNewer,
            changesOtherSeries, datesElsewhere, ownSchedule, seriesUnderOtherUID, replacesOtherUID, ownWriting,
            replacesOther, privateNow, privateButShared, keptAsToDo, tooManyTasks, taskLeft,
            taskDeleted
        // Bytes and lines.
        case charsetDeclared, charsetGuessed, charsetWindows, charsetUTF16, controlCharacters, nulBytes, lineTooLong,
            lineNotProperty, lineWithoutColon, lineOfText, linesOutside, combiningMarks, hiddenCharacters, libicalNote
        // Components.
        case calendarEndMissing, calendarCut, componentEndMissing, componentCut, componentTooDeep, endStray,
            componentOutside, kindsUnread, libicalComponent, libicalField, tooManyProperties, tooManyValues,
            tooManyDates, tooManyRules, tooManyReminders, tooManyParameters, uidMade, dtstampMissing, requestStatus,
            sequenceUnreadable, uidOfOtherKind, notGregorian, overrideAlone, recurrenceIDTime, recurrenceIDForm,
            repeatedKept,
            repeatedLost, reminderFile, calendarFile, reminderWithoutTrigger, triggerIsTime, oldReminderLost,
            oldReminderRead, descriptionHTML,
            escapedTwice, cancelledByTitle, recurrenceIDUnreadable
        // Times.
        case startMissing, yearUnlikely, endAndDuration, endType, endEqualsStart, endBeforeDay, endBeforeStartDay,
            endBeforeStartTime, durationNegative, durationUnreadable, durationOrder, midnightToMidnight, listType,
            timeNotUTC, timeFormat, timeImpossible, timeUnreadable, dateWithTime, dateUnmarked, zoneAndUTC, tzidColon,
            zoneByOffset, zoneGuessed, zoneUnknown, zoneAssumed, zoneWithoutName, zoneWithoutParts, zonePartUnreadable,
            zoneTooManyRules, zoneRuleNotYearly, zoneRuleParts, zoneSolar, endClock, durationOfDays, linesIndented,
            tzidQuotes, listClock, periodOfDays, zoneStartMissing, zoneOnsetUnreadable, zoneOnsetClock,
            zoneTooManyOnsets
        // Repetition.
        case overrideRepeats, rulePartsLeftOut, exclusionRule, exclusionRuleUntil, exclusionRuleKept, oldRule,
            ruleEmptyParts, ruleEscapes, countAndUntil,
            ruleCountAndUntil, untilBeforeStart, untilType, fileTooCostly, ruleTooCostly, ruleRefused, ruleTooLong,
            rulePartWithoutValue, rulePartTwice, ruleWithoutFrequency, ruleFrequency, ruleWeekday, rulePartUnsupported,
            rulePartUnknown, ruleOrdinal, ruleOrdinalOfWeek, ruleWeekNumber, ruleYearDay, ruleMonthDay, rulePosition,
            ruleNumber, ruleNegative, ruleEmpty, ruleUntil
        // How calendar apps handle the file.
        case appLosesEvents, appEmpties, appUnended, appNoCalendar, appLine, appSecondCalendar, appValue,
            appEmptiesUnended, appEmptiesSeveral, appUnavailable, appFindsNothing, appFolds, strictLine, strictEnd,
            strictCalendars, strictRepeated,
            strictMissing, strictZone, strictZoneStart, strictZonePart, strictTimes, strictDuration, strictPeriods,
            strictValue, strictNoCalendar, appDTSTAMP, appSequence, appSize, appCharset, appSplitCharacter,
            appInvitation, appFirstInvitation, appNameMissing, appNewCalendar, appZoneUndeclared, appZoneDates,
            appZoneSeconds, appZoneInvalid, appZoneStart, appFloating, appFloatingCalendar, appUTCSeries, appUTCTimes,
            appEndBeforeStart, appLastDay, appEndEqualsStart, appYearlyOnce, appException, appStaleOverride, appSameUID,
            appStartNotNamed, appExclusionRule, appDatesAlone,
            appToDosAlone, appToDos, appRemovesCancelled, appStrikesCancelled, appShowsCancelled, appIgnoresReminders,
            appRemovesReminders, appHTML, appFree, someNames
        // Objects of calendar apps.
        case objectUnreadable, objectVersion, objectPart, objectEmpty, objectKinds, objectMethod, objectWithoutUID,
            objectUIDs, objectTwice, objectZone
        // Calendars of a person's own.
        case ownCalendarsFull, ownResourcesFull, ownBytesFull, propertiesFull, pushRegistrationsFull,
            resourceName, calendarName, transferElsewhere, transferToItself
        // What calendar apps store in a circle.
        case titleNeeded, appointmentTime, appointmentPatient, taskRepeats, resourceYears, personalPartsFull
    }
}
