// SPDX-License-Identifier: Apache-2.0

/// The format of log lines.
package enum LogForm: String, CaseIterable {
    /// `2026-11-22T13:30:00.125Z info request method=GET status=200`, for people.
    case text
    /// A JSON object with `time`, `level`, `message` and the values, for programs.
    case json
}
