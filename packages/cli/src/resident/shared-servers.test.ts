import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { createSharedServers } from "./shared-servers.js";

describe("createSharedServers()", () => {
  it("masks a process with the vault of the client that started it, not of the first one", async () => {
    const told: string[] = [];
    let tell: () => void = () => {};
    const heard = new Promise<void>((resolve) => (tell = resolve));
    const invocation = {
      io: { env: { PATH: "/usr/bin:/bin" }, userHome: "/" },
      print: { notice: (text: string) => (told.push(text), tell()) },
    };
    await using sharing = createSharedServers(invocation as never, {
      servers: { note: () => {} } as never,
      version: "0",
    });
    const command = ["/bin/sh", "-c", "echo value-of-B >&2; cat"];
    const server = { name: "db", command, shared: true } as never;
    const masker = (name: string) => () =>
      createMasker([new Secret({ name, value: `value-of-${name}` })]);
    sharing.of(server, masker("A"));
    const upstream = sharing.of(server, masker("B"));
    if (!("start" in upstream)) throw new Error("it is started by its caller");
    const client = await upstream.start();
    client.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n');
    await heard;
    expect(told[0]).toBe("[db] [secret B]");
  });
});
