// SPDX-License-Identifier: Apache-2.0

import Storage

/// Who a request comes from.
enum Identity: Hashable, Sendable {
    /// The operator, through the local socket.
    case operatorAtHand
    /// A host application, with the id of its key.
    case service(key: String)
    /// One user of the host application.
    case user(String)

    /// Whether it stands for the installation and not for one user.
    var isInstallation: Bool {
        if case .user = self { false } else { true }
    }

    /// The user it stands for, nil for the installation.
    var userID: String? {
        if case .user(let id) = self { id } else { nil }
    }
}
