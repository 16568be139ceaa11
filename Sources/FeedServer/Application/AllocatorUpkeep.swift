// SPDX-License-Identifier: Apache-2.0

import NIOPosix
import ServiceLifecycle

/// Looks every two seconds whether memory can be given back.
struct AllocatorUpkeep: Service {
    private static let interval = Duration.seconds(2)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                // Not on a thread that tasks share: it takes as long as there is memory to look through.
                try? await NIOThreadPool.singleton.runIfActive { Allocator.giveBack() }
            }
        }
    }
}
