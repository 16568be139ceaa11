// SPDX-License-Identifier: Apache-2.0

// An app uses these types and texts too, and imports only this library.
@_exported public import Calendar
@_exported public import OfficeDays
@_exported public import PhoneTexts
