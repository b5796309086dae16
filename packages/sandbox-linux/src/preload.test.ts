import { Server } from "node:http";
import { statSync } from "node:fs";
import { hostNeed } from "@acp/testing";
import { describe, expect, it } from "vitest";
import { createPreloadSandbox, makeProxychainsConfig } from "./preload.js";

const agent = { onConnection: (): void => undefined, env: () => ({}) };
const need = hostNeed("proxychains4", () =>
  statSync("/usr/bin/proxychains4", { throwIfNoEntry: false }) === undefined
    ? "not installed"
    : undefined,
);

describe("createPreloadSandbox()", () => {
  it("is unavailable without proxychains4", async () => {
    const sandbox = createPreloadSandbox({}, { findRedirector: () => undefined });
    expect(await sandbox.probe()).toMatchObject({
      isAvailable: false,
      level: "none",
      fix: expect.stringContaining("Install proxychains4"),
    });
    await expect(sandbox.spawn(["/bin/true"], agent)).rejects.toMatchObject({
      code: "sandbox_unavailable",
    });
  });

  it("is unavailable where proxychains4 does not start a program", async () => {
    const report = await createPreloadSandbox({}, { findRedirector: () => "/bin/false" }).probe();
    expect(report).toMatchObject({
      isAvailable: false,
      reason: "an agent that does nothing did not end well",
    });
  });

  it.skipIf(!need.run)(
    `leads a program to the proxy that heeds no variable, names unresolved ${need.reason}`,
    async () => {
      const asked: string[] = [];
      const proxy = new Server((_, response) => response.end("from the proxy"));
      proxy.on("connect", (request, socket) => {
        asked.push(request.url ?? "");
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        proxy.emit("connection", socket);
      });
      const program =
        'fetch("http://name.test/").then((answer) => answer.text()).then(console.log)';
      const child = await createPreloadSandbox().spawn([process.execPath, "-e", program], {
        onConnection: (socket) => proxy.emit("connection", socket),
        env: () => ({ PATH: "/usr/bin:/bin" }),
        stdio: "pipe",
      });
      let text = "";
      for await (const chunk of child.stdout ?? []) text += String(chunk);
      expect([text, asked]).toEqual(["from the proxy\n", ["name.test:80"]]);
      expect(child.report.level).toBe("advisory");
      await child.exited;
    },
  );
});

describe("makeProxychainsConfig()", () => {
  it("names the proxy's port, leaves the loopback alone and resolves nothing here", () => {
    const lines = makeProxychainsConfig(8443).split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "http 127.0.0.1 8443",
        "localnet 127.0.0.0/255.0.0.0",
        "proxy_dns",
        "strict_chain",
      ]),
    );
  });
});
