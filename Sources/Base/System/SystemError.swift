// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Returns the system's description of an error number, such as `No such file or directory`.
package func systemReason(_ code: CInt) -> String {
    // strerror's text is valid until this thread's next call and is copied at once.
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
}
