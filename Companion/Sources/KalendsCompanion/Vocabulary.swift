// SPDX-License-Identifier: Apache-2.0

// An app uses these types and texts too, and imports this library alone.
@_exported public import Calendar
@_exported public import OfficeDays
@_exported public import PhoneTexts
