// SPDX-License-Identifier: Apache-2.0

import NIOPosix
import ServiceLifecycle

/// Checks four times a second whether memory can be returned to the system.
struct AllocatorUpkeep: Service {
    private static let interval = Duration.milliseconds(250)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                // This must not run on a shared thread: it takes longer the more memory there is to search.
                try? await NIOThreadPool.singleton.runIfActive { Allocator.giveBack() }
            }
        }
    }
}
