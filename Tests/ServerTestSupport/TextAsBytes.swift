// SPDX-License-Identifier: Apache-2.0

// For every file of this module: `==` and similar operators compare text by its bytes.
@_exported public import Base
