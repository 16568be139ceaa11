// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The folder of the repository, from which tests read documents, samples and programs.
package let packageRoot = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
