// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import Outbound
import Synchronization

/// A resolver that knows only the services that a test names.
final class NamedServices: ServiceResolver {
    private let known: [String: [ServiceRecord]]
    private let knownTexts: [String: [String]]
    private let asked = Mutex<[String]>([])

    init(_ services: [String: [ServiceRecord]] = [:], texts: [String: [String]] = [:]) {
        (known, knownTexts) = (services, texts)
    }

    var questions: [String] { asked.withLock { $0 } }

    func services(of name: String, for asker: ByteString) async -> [ServiceRecord] {
        asked.withLock { $0.append(name) }
        return known[name] ?? []
    }

    func texts(of name: String, for asker: ByteString) async -> [String] { knownTexts[name] ?? [] }
}

/// A name server on this machine that sends the test's message for each question.
final class NameServer: Sendable {
    let port: Int
    private let channel: any Channel

    /// - Parameter answer: is passed a question's message with the name and type that it asks for; nil sends no answer.
    init(_ answer: @escaping @Sendable (_ question: [UInt8], _ name: String, _ type: Int) -> [UInt8]?) async throws {
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answering(answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func stop() async { try? await channel.close() }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        let answer: @Sendable ([UInt8], String, Int) -> [UInt8]?

        init(answer: @escaping @Sendable ([UInt8], String, Int) -> [UInt8]?) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            let question = Array(envelope.data.readableBytesView)
            var (index, labels) = (12, [String]())
            while index < question.count, question[index] > 0 {
                let end = index + 1 + Int(question[index])
                labels.append(String(decoding: question[(index + 1)..<end], as: UTF8.self))
                index = end
            }
            let type = Int(question[index + 1]) << 8 | Int(question[index + 2])
            guard let bytes = answer(question, labels.joined(separator: "."), type) else { return }
            context.writeAndFlush(
                wrapOutboundOut(
                    AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: bytes))),
                promise: nil)
        }
    }
}

/// Messages of the DNS, written by hand (RFC 1035 section 4).
enum DNSWriter {
    /// Returns an answer to a question with the types and data of some records.
    static func answer(_ question: [UInt8], _ records: [(type: Int, data: [UInt8])], code: UInt8 = 0) -> [UInt8] {
        var end = 12
        while question[end] > 0 { end += 1 + Int(question[end]) }
        var bytes = Array(question[..<2]) + [0x81, 0x80 | code, 0, 1] + pair(records.count) + [0, 0, 0, 0]
        bytes += question[12..<(end + 5)]
        for record in records {
            // A pointer to the question's name, the class of the Internet, a minute.
            bytes += [0xC0, 12] + pair(record.type) + [0, 1, 0, 0, 0, 60] + pair(record.data.count) + record.data
        }
        return bytes
    }

    static func service(_ priority: Int, _ weight: Int, _ port: Int, _ target: String) -> (type: Int, data: [UInt8]) {
        (33, pair(priority) + pair(weight) + pair(port) + name(target))
    }

    static func text(_ texts: String...) -> (type: Int, data: [UInt8]) {
        (16, texts.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) })
    }

    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    static func pair(_ number: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }
}
