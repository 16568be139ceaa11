// SPDX-License-Identifier: Apache-2.0

// Re-exported for every file of this module: with it, `==` and similar operators compare text by its bytes.
@_exported public import Base
