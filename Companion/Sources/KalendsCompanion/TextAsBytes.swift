// SPDX-License-Identifier: Apache-2.0

// This applies to every file of the module: `==` and similar operators compare text by its bytes.
@_exported public import Base
