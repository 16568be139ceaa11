// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Notifies the service manager of the server's state (sd_notify(3)); does nothing when none asks for it.
package struct ServiceManager: Sendable {
    package enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    private let path: [UInt8]

    package init(_ environment: [String: String]) {
        // The first byte of an abstract socket's name is written as an @.
        var path = Array((environment["NOTIFY_SOCKET"] ?? "").utf8)
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        let most = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        self.path = path.count < most ? path : []
    }

    package func notify(_ state: State) {
        guard !path.isEmpty else { return }
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The path is shorter than the destination, which was checked above.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in unsafe buffer.copyBytes(from: path) }
        let size = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2) + socklen_t(path.count)
        let words = Array(state.rawValue.utf8)
        // Both are only read during the call. A failure is ignored: the manager ends a server that is not ready in
        // time.
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe words.withUnsafeBytes {
                    unsafe sendto(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL), address, size)
                }
            }
        }
    }
}
