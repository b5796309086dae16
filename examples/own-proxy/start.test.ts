import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("npm start listens on loopback, denies where nobody can be asked, and ends on SIGINT", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "acp-"));
  const { scripts } = JSON.parse(
    await readFile(new URL("package.json", import.meta.url), "utf8"),
  ) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  expect(scripts["start"]).toBe("tsx start.ts");
  // A session of its own has no terminal to ask on.
  const program = spawn(
    process.execPath,
    [
      "--import",
      fileURLToPath(import.meta.resolve("tsx")),
      fileURLToPath(new URL("start.ts", import.meta.url)),
    ],
    {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, PORT: "0" },
    },
  );
  try {
    const [said] = await once(program.stdout.setEncoding("utf8"), "data");
    const port = /^Listening on http:\/\/127\.0\.0\.1:(\d+)\n$/.exec(String(said))?.[1];
    const sent = request({
      host: "127.0.0.1",
      port,
      path: "http://example.com/",
      agent: false,
    }).end();
    const [answer] = await once(sent, "response");
    expect([answer.statusCode, JSON.parse(await text(answer))]).toEqual([
      403,
      expect.objectContaining({ code: "channel_unavailable" }),
    ]);
    expect(await readFile(join(cwd, "audit.jsonl"), "utf8")).toContain(
      '"event_type":"consent_failed"',
    );
    program.kill("SIGINT");
    const [code] = await once(program, "exit");
    expect(code).toBe(0);
  } finally {
    program.kill("SIGKILL");
    await rm(cwd, { recursive: true, force: true });
  }
});
