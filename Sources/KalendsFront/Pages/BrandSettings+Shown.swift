// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Pages

extension BrandSettings {
    /// The brand in the form in which pages show it.
    var shown: Brand { Brand(name: name, logo: logo?.path, accent: accent.flatMap { AccentColor($0) }) }
}
