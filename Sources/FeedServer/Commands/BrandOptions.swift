// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore

/// The flags of the host application's brand on the pages.
struct BrandOptions: ParsableArguments {
    @Option(name: Setting.appName.option, help: Setting.appName.help) var appName: String?
    @Option(name: Setting.appAccent.option, help: Setting.appAccent.help) var appAccent: String?
    @Option(name: Setting.appLogo.option, help: Setting.appLogo.help) var appLogo: String?
    @Option(name: Setting.frameAncestors.option, help: Setting.frameAncestors.help) var frameAncestors: String?

    var given: [Setting: String?] {
        [
            .appName: appName, .appAccent: appAccent, .appLogo: appLogo, .frameAncestors: frameAncestors,
        ]
    }
}
