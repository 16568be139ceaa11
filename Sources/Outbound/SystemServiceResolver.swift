// SPDX-License-Identifier: Apache-2.0

internal import CResolver

/// Asks the system's name servers, or one that a test names, on separate threads.
package struct SystemServiceResolver: ServiceResolver {
    /// An IPv4 address and a port to ask in place of the system's servers; set only by tests.
    private let server: (address: String, port: Int)?
    private let seconds: Int

    /// The maximum length of a message over TCP, in bytes.
    static let longest = 65_535

    private static let lookups = Lookups<[UInt8]>(width: 8)

    package init(server: (address: String, port: Int)? = nil, seconds: Int = 2) {
        (self.server, self.seconds) = (server, seconds)
    }

    package func services(of name: String, for asker: ByteString) async -> [ServiceRecord] {
        await ask(name, .service, asker)?.services ?? []
    }

    package func texts(of name: String, for asker: ByteString) async -> [String] {
        await ask(name, .text, asker)?.texts ?? []
    }

    private func ask(_ name: String, _ kind: DNSMessage.Kind, _ asker: ByteString) async -> DNSMessage? {
        let (server, seconds) = (server, seconds)
        let question = ByteString("\(kind.rawValue) \(server?.port ?? 0) \(name)")
        let answer = try? await Self.lookups.answer(to: question, for: asker) {
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
