// SPDX-License-Identifier: Apache-2.0

/// One fault of a request: where it is (RFC 6901) and what is wrong there.
package struct Fault: Hashable, Sendable {
    /// The kind of fault, for programs: a code keeps its meaning in all later versions.
    package enum Code: String, CaseIterable, Sendable {
        case addressNotAllowed = "address-not-allowed"
        case authorizationUnknown = "authorization-unknown"
        case calendarUnread = "calendar-unread"
        case callTooCostly = "call-too-costly"
        case contradiction
        case duplicate
        case empty
        case fetchFailed = "fetch-failed"
        case fileProblem = "file-problem"
        case guessable
        case invalid
        case invalidCursor = "invalid-cursor"
        case invalidDate = "invalid-date"
        case invalidID = "invalid-id"
        case invalidRule = "invalid-rule"
        case invalidTime = "invalid-time"
        case invalidTimeZone = "invalid-time-zone"
        case malformed
        case notAChoice = "not-a-choice"
        case order
        case outOfRange = "out-of-range"
        case required
        case ruleTooCostly = "rule-too-costly"
        case stale
        case tooLong = "too-long"
        case tooMany = "too-many"
        case tooManyMarks = "too-many-marks"
        case unknownField = "unknown-field"
        case unknownParameter = "unknown-parameter"
        case unknownReference = "unknown-reference"
        case unwantedCharacter = "unwanted-character"
        case wrongCode = "wrong-code"
        case wrongPassword = "wrong-password"
        case wrongType = "wrong-type"
    }

    package var pointer: String
    package var code = Code.invalid
    package var message: String

    package var json: JSONValue {
        ["pointer": .string(pointer), "code": .string(code.rawValue), "message": .string(message)]
    }

    package init(pointer: String, code: Code = Code.invalid, message: String) {
        self.pointer = pointer
        self.code = code
        self.message = message
    }
}
