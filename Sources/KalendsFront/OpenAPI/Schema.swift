// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// What the document says of values; not the database's schema, which has this name where it is stored.
typealias Schema = JSONSchema
