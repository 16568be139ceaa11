// SPDX-License-Identifier: Apache-2.0

import Foundation
import Server
import TestSupport
import Testing

@Suite("Under a service manager")
struct ServiceManagerTests {
    /// Opens a socket as systemd does, runs two servers on it one after the other, and sends requests on new
    /// connections all the time. Prints what each server reported, and how many requests were and were not answered.
    private static let handover = """
        import http.client, os, signal, socket, sys, threading, time

        program, folder = sys.argv[1:3]
        listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
        port = listening.getsockname()[1]
        notes = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notes.bind(folder + "/notes")
        notes.settimeout(60)

        def start(*arguments):
            process = os.fork()
            if process == 0:
                log = os.open(folder + "/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                os.dup2(log, 2)
                os.dup2(listening.fileno(), 3)
                os.set_inheritable(3, True)
                os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=folder + "/notes")
                os.execv(program, [program, "serve", "--database", folder + "/k.sqlite", *arguments])
            return process

        def ended(process):
            return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

        print("refused", ended(start("--port", "1")))
        server = start()
        print(notes.recv(100).decode())
        counts, over = {}, threading.Event()

        def ask():
            while not over.is_set():
                try:
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                    connection.request("GET", "/readyz")
                    answer = connection.getresponse().status
                except Exception as error:
                    answer = repr(error)
                counts[answer] = counts.get(answer, 0) + 1

        readers = [threading.Thread(target=ask) for _ in range(4)]
        for reader in readers: reader.start()
        for _ in range(3):
            time.sleep(0.5)
            os.kill(server, signal.SIGTERM)
            print(notes.recv(100).decode(), ended(server))
            server = start()
            print(notes.recv(100).decode())
        time.sleep(0.5)
        over.set()
        for reader in readers: reader.join()
        os.kill(server, signal.SIGTERM)
        print(notes.recv(100).decode(), ended(server))
        # While it stops, the one or the other hears of it; nobody goes without an answer.
        print("other answers", {answer for answer in counts if answer not in (200, 503)}, counts.get(200, 0) > 50)
        """

    @Test("A passed socket is listened on, servers take it over from each other, and no connection is refused")
    func handover() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sd-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await runProgram(
            "/usr/bin/env", ["python3", "-c", Self.handover, Programs.kalends, folder.path])
        let turn = "STOPPING=1 0\nREADY=1\n"
        #expect(
            result.output
                == "refused 2\nREADY=1\n\(turn)\(turn)\(turn)STOPPING=1 0\nother answers set() True\n",
            "\(result.output)\(result.error)")
        let log = String(decoding: FileManager.default.contents(atPath: folder.path + "/log") ?? Data(), as: UTF8.self)
        #expect(log.contains("host and port cannot be set where the service manager passes the socket"))
    }

    @Test("Variables that were meant for another process, or name no socket, are not followed")
    func notOurs() throws {
        #expect(try PassedSocket.taken(from: [:]) == nil)
        #expect(try PassedSocket.taken(from: ["LISTEN_FDS": "1", "LISTEN_PID": "1"]) == nil)
        #expect(try PassedSocket.taken(from: ["LISTEN_FDS": "0", "LISTEN_PID": "7"], by: 7) == nil)
        #expect(throws: (any Error).self) {
            try PassedSocket.taken(from: ["LISTEN_FDS": "2", "LISTEN_PID": "7"], by: 7)
        }
    }
}
