import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { hostNeed } from "@acp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acceptFrom, peerUid } from "./peer-uid.js";

let server: Server;
let port: number;
beforeEach(async () => {
  server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterEach(() => {
  server.close();
});

const own = process.getuid?.() ?? -1;
const root = hostNeed("root", () => (own === 0 ? undefined : "not root"));

async function accepted(): Promise<Socket> {
  // what a server of node:net emits
  const [socket] = (await once(server, "connection")) as [Socket];
  return socket.on("error", () => undefined);
}

const endsOf = ({
  localPort = 0,
  remotePort = 0,
}: Socket): { localPort: number; remotePort: number } => ({ localPort, remotePort });

describe("peerUid()", () => {
  it("is the uid that opened the other end, also through an IPv6 socket", async () => {
    for (const host of ["127.0.0.1", "::ffff:127.0.0.1"]) {
      const connection = accepted();
      const client = connect(port, host).on("error", () => undefined);
      const socket = await connection;
      expect(peerUid(endsOf(socket))).toBe(own);
      client.destroy();
      socket.destroy();
    }
  });

  it("is the uid that opened the other end over ::1", async () => {
    const six = createServer();
    const isOpen = await new Promise<boolean>((resolve) => {
      six.once("error", () => resolve(false));
      six.listen(0, "::1", () => resolve(true));
    });
    // A kernel without IPv6 has no such connections.
    if (!isOpen) return;
    const address = six.address();
    const connection = once(six, "connection") as Promise<[Socket]>;
    const client = connect(
      typeof address === "object" && address !== null ? address.port : 0,
      "::1",
    ).on("error", () => undefined);
    const [socket] = await connection;
    expect(peerUid(endsOf(socket))).toBe(own);
    client.destroy();
    socket.destroy();
    six.close();
  });

  it.skipIf(!root.run)(`is another's where it is another ${root.reason}`, async () => {
    const connection = accepted();
    const program = `require("net").connect(${port}, "127.0.0.1")`;
    const child = spawn(process.execPath, ["-e", program], {
      uid: 61_042,
      gid: 61_042,
      env: {},
      cwd: "/",
      stdio: "ignore",
    });
    const socket = await connection;
    expect(peerUid(endsOf(socket))).toBe(61_042);
    socket.destroy();
    await once(child, "exit");
  });

  it("is nobody's where the kernel lists no such socket, or no list", () => {
    const header =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
    const line = (local: string, remote: string): string =>
      `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  1000        0 1 1\n`;
    const ends = { localPort: 0x50, remotePort: 0x1f90 };
    const read = (text: string) => (path: string) =>
      path === "/proc/net/tcp" ? header + text : header;
    expect(peerUid(ends, read(line("0100007F:1F90", "0100007F:0050")))).toBe(1000);
    // The accepting end itself, another port, another address.
    for (const [local, remote] of [
      ["0100007F:0050", "0100007F:1F90"],
      ["0100007F:1F91", "0100007F:0050"],
      ["0100007F:1F90", "0200007F:0050"],
      ["0A00007F:1F90", "0100007F:0050"],
    ] as const) {
      expect(peerUid(ends, read(line(local, remote)))).toBeUndefined();
    }
    const unreadable = (): string => {
      throw new Error("ENOENT");
    };
    expect(peerUid(ends, unreadable)).toBeUndefined();
  });
});

describe("acceptFrom()", () => {
  it.each([
    ["passes on a connection of the uid", own, 1],
    ["cuts off one of another", own + 1, 0],
  ])("%s", async (_, uid, want) => {
    let passed = 0;
    server.on(
      "connection",
      acceptFrom(uid, (socket) => {
        passed += 1;
        socket.destroy();
      }),
    );
    const client = connect(port, "127.0.0.1").on("error", () => undefined);
    await once(client, "close");
    expect(passed).toBe(want);
  });
});
