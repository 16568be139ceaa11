// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Services {
    /// Who knows app passwords; nil as long as there are none, and then nobody gets in.
    var calDAVSignIn: (any CalDAVSignInDoor)? { nil }

    /// What opens the collection at a feed's secret address; nil if feeds are only files.
    var feedPlaces: (any FeedPlaces)? { nil }
}
