// SPDX-License-Identifier: Apache-2.0

/// Bytes are read in any form, and what is written in another form can be read.
enum FormPromises {
    static func check(_ bytes: [UInt8], _ reading: CalendarReading) {
        let reader = CalendarReader(options: .init(keepsAttachments: true))
        if reading.refusal != nil {
            let other = reader.read(anyForm: bytes)
            if other.refusal == nil {
                SeriesPromises.check(other)
                WritingPromises.check(other)
            }
            // Each form for itself too, whatever the bytes look like.
            if let text = try? CalendarReader.iCalendarText(fromJCal: bytes) { _ = reader.read(text) }
            if let text = try? CalendarReader.iCalendarText(fromXCal: bytes) { _ = reader.read(text) }
            if let text = try? CalendarReader.iCalendarText(fromCSV: bytes) { _ = reader.read(text) }
        }
        for calendar in reading.calendars where calendar.events.count < 40 {
            do {
                WritingPromises.checkText(try CalendarReader.iCalendarText(fromJCal: calendar.jCal()))
                WritingPromises.checkText(try CalendarReader.iCalendarText(fromXCal: calendar.xCal()))
                WritingPromises.checkText(try CalendarReader.iCalendarText(fromCSV: calendar.csv()))
            } catch {
                let text = String(decoding: calendar.serialized(), as: UTF8.self)
                fatalError("What was written in another form is not read: \(error)\n\(text)")
            }
        }
    }
}
