// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// The schema of a value in the document, as opposed to the database's schema, which has the same name in its module.
typealias Schema = JSONSchema
