// SPDX-License-Identifier: Apache-2.0

internal import CResolver
internal import NIOPosix

/// Asks the system's name servers, or one that a test names, on separate threads.
package struct SystemServiceResolver: ServiceResolver {
    /// An IPv4 address and a port to ask in place of the system's servers; set only by tests.
    private let server: (address: String, port: Int)?
    private let seconds: Int

    /// The maximum length of a message over TCP, in bytes.
    private static let longest = 65_535

    /// A few threads that are used for nothing else: slow names delay only other look-ups.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        return threads
    }()

    package init(server: (address: String, port: Int)? = nil, seconds: Int = 2) {
        (self.server, self.seconds) = (server, seconds)
    }

    package func services(of name: String) async -> [ServiceRecord] { await ask(name, .service)?.services ?? [] }

    package func texts(of name: String) async -> [String] { await ask(name, .text)?.texts ?? [] }

    private func ask(_ name: String, _ kind: DNSMessage.Kind) async -> DNSMessage? {
        let (server, seconds) = (server, seconds)
        let answer = try? await Self.threads.runIfActive {
            var bytes = [UInt8](repeating: 0, count: Self.longest)
            // The buffer is as long as the length that is passed, and the function does not keep it.
            let length = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
                unsafe kalends_ask_dns(
                    name, Int32(kind.rawValue), server?.address, UInt16(clamping: server?.port ?? 0), Int32(seconds),
                    buffer.baseAddress, Int32(buffer.count))
            }
            return length > 0 ? Array(bytes.prefix(Int(length))) : []
        }
        return answer.flatMap { DNSMessage($0) }
    }
}
