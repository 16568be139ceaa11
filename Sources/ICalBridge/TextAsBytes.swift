// SPDX-License-Identifier: Apache-2.0

// For every file of this module: `==` and similar operators compare text by its bytes.
@_exported public import Base
// What this module reads and writes is said in its values.
@_exported public import Calendar
