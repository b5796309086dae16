import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCheckpoints } from "@acp/audit";
import { expect, it, onTestFinished } from "vitest";
import { makeWitnesses, witnessFile } from "./witnesses.js";

const signal = new AbortController().signal;

it("makeWitnesses() keeps the checkpoints of each log in a file of its own", async () => {
  const directory = await mkdtemp(join(tmpdir(), "acp-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const origin of ["acp-1/audit.jsonl", "acp-1/audit.2.jsonl", "acp-2/audit.jsonl"]) {
    const [witness] = makeWitnesses([{ directory }], origin);
    expect(witness?.name).toBe(`directory ${directory}`);
    await witness?.publish(`one of ${origin}`, signal);
    await witness?.publish(`two of ${origin}`, signal);
    expect(await readCheckpoints(witnessFile(directory, origin))).toEqual([
      `one of ${origin}`,
      `two of ${origin}`,
    ]);
  }
  const [missing] = makeWitnesses([{ directory: join(directory, "not-mounted") }], "a/b");
  await expect(missing?.publish("lost", signal)).rejects.toThrow("ENOENT");
});

it("makeWitnesses() posts checkpoints to a URL, and takes no other answer than yes", async () => {
  const seen: string[] = [];
  let status = 204;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      seen.push(`${request.method} ${request.url} ${request.headers["content-type"]} ${body}`);
      response
        .writeHead(status, status === 302 ? { location: "/elsewhere" } : {})
        .end(status === 204 ? undefined : "text");
    });
  });
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const [witness] = makeWitnesses([{ url: `http://127.0.0.1:${port}/secret-path` }], "a/b");
  expect(witness?.name).toBe(`url http://127.0.0.1:${port}`);
  await witness?.publish("checkpoint\n\n— a b\n", signal);
  expect(seen).toEqual(["POST /secret-path text/plain; charset=utf-8 checkpoint\n\n— a b\n"]);
  status = 503;
  await expect(witness?.publish("x", signal)).rejects.toThrow("it answered with status 503");
  status = 302;
  await expect(witness?.publish("x", signal)).rejects.toThrow("unexpected redirect");
  expect(seen).toHaveLength(3);
  await expect(witness?.publish("x", AbortSignal.abort(new Error("closing")))).rejects.toThrow(
    "closing",
  );
});

it("makeWitnesses() asks a URL for the newest checkpoint of the log, and takes no other answer than 200", async () => {
  const seen: string[] = [];
  let answer: readonly [number, string] = [200, "checkpoint\n\n— a b\n"];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.url === "/elsewhere") return void response.end("checkpoint\n\n— c d\n");
    response
      .writeHead(answer[0], answer[0] === 302 ? { location: "/elsewhere" } : {})
      .end(answer[1]);
  });
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const [witness] = makeWitnesses(
    [{ url: `http://127.0.0.1:${port}/notes?token=t` }],
    "acp-1/audit.jsonl",
  );
  expect(await witness?.newest?.(signal)).toBe("checkpoint\n\n— a b\n");
  expect(seen).toEqual(["GET /notes?token=t&origin=acp-1%2Faudit.jsonl"]);
  for (const status of [404, 405, 503]) {
    answer = [status, "nothing here"];
    expect(await witness?.newest?.(signal)).toBeUndefined();
  }
  answer = [200, "x".repeat(64 * 1024 + 1)];
  await expect(witness?.newest?.(signal)).rejects.toThrow("more than");
  answer = [302, ""];
  await expect(witness?.newest?.(signal)).rejects.toThrow("fetch failed");
  expect(seen).not.toContain("GET /elsewhere");
});
