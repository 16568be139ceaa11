// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// What the credentials of a request lead to.
enum CalDAVSignIn: Sendable {
    case accepted(CalDAVCaller)
    /// 401: a wrong name or password.
    case refused
    /// 401: the password has ended.
    case ended
    /// 429: there were too many guesses.
    case wait(seconds: Int)
    /// 403: the password would go over the network in the clear.
    case needsTLS
}
