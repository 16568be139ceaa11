// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore

/// The flags of how long what is recorded is kept.
struct RetentionOptions: ParsableArguments {
    @Option(name: Setting.keepAccessDays.option, help: Setting.keepAccessDays.help) var keepAccessDays: String?
    @Option(name: Setting.keepAccessCountDays.option, help: Setting.keepAccessCountDays.help)
    var keepAccessCountDays: String?
    @Option(name: Setting.keepActivityDays.option, help: Setting.keepActivityDays.help) var keepActivityDays: String?
    @Option(name: Setting.keepRunDays.option, help: Setting.keepRunDays.help) var keepRunDays: String?
    @Option(name: Setting.keepDeletionDays.option, help: Setting.keepDeletionDays.help) var keepDeletionDays: String?
    @Option(name: Setting.keepDeliveryDays.option, help: Setting.keepDeliveryDays.help) var keepDeliveryDays: String?
    @Option(name: Setting.keepPreviewDays.option, help: Setting.keepPreviewDays.help) var keepPreviewDays: String?

    var given: [Setting: String?] {
        [
            .keepAccessDays: keepAccessDays, .keepAccessCountDays: keepAccessCountDays,
            .keepActivityDays: keepActivityDays, .keepRunDays: keepRunDays, .keepDeletionDays: keepDeletionDays,
            .keepDeliveryDays: keepDeliveryDays, .keepPreviewDays: keepPreviewDays,
        ]
    }
}
