// SPDX-License-Identifier: Apache-2.0

import KalendsCore
package import Logging

/// Writes log events as lines into a sink.
package struct LineLogHandler: LogHandler {
    let sink: LogSink
    let form: LogLine.Form
    let now: Clock
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel = Logger.Level.info

    package init(_ sink: LogSink, as form: LogLine.Form, now: @escaping Clock = systemClock) {
        (self.sink, self.form, self.now) = (sink, form, now)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var values = metadata
        if let more = metadataProvider?.get() { values.merge(more) { $1 } }
        if let more = event.metadata { values.merge(more) { $1 } }
        var line = LogLine(form, at: now(), event.level.rawValue, "\(event.message)")
        for (name, value) in values.sorted(by: { $0.key.isTextBefore($1.key) }) { add(name, value, to: &line) }
        // An error may contain a secret, so only its type is written.
        if let error = event.error { line.add("error", publicText(error)) }
        end(line, event.level)
    }

    /// Logs a request as `log` would, but without a dictionary for each one.
    ///
    /// - Parameter rest: the line up to the number of microseconds, if it is known already.
    func log(_ record: RequestRecord, _ rest: LogLine? = nil, microseconds: Int) {
        var line = LogLine(form, at: now(), rest ?? self.rest(method: record.method, record.route, record.status))
        line.addNumber(microseconds)
        record.note?.eachField { line.add($0, $1) }
        if let requestID = record.requestID { line.add(Self.requestID, requestID) }
        if !metadata.isEmpty {
            for (name, value) in metadata.sorted(by: { $0.key.isTextBefore($1.key) }) { add(name, value, to: &line) }
        }
        end(line, .info)
    }

    /// The line of a request behind its time and up to the number of microseconds.
    func rest(method: String, _ route: String, _ status: Int) -> LogLine {
        var line = LogLine(withoutTime: form, Logger.Level.info.rawValue, "request")
        line.add("method", method)
        line.add("route", route)
        line.add("status", status)
        line.addName("microseconds")
        return line
    }

    private static let requestID = "requestID"

    /// The framework's name of a request's number is replaced by a readable one.
    private func add(_ name: String, _ value: Logger.MetadataValue, to line: inout LogLine) {
        line.add(name.isSameText(as: RouteLog.requestIDKey) ? Self.requestID : name, "\(value)")
    }

    private func end(_ line: consuming LogLine, _ level: Logger.Level) {
        line.end()
        sink.append(line.bytes, isUrgent: level >= .warning)
    }
}
