/**
 * `acp proxy http` and the programs that people have: curl, a Node program with fetch through the
 * preload, and Python's urllib. Each is let through, asked about, refused with a reason, and let
 * through again for a while.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { acp } from "./harness.js";
import {
  FORMS,
  answerNext,
  attachSilent,
  has,
  httpWorld,
  program,
  startProxy,
} from "./http-world.js";
import type { HttpWorld, RunningProxy } from "./http-world.js";

const PATCH = fileURLToPath(new URL("../../proxy-http/dist/fetch-patch.js", import.meta.url));

/** What came back. */
interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends one request as a kind of program does. */
interface Client {
  readonly name: string;
  /** Why it is left out here. */
  readonly missing?: string;
  send(world: HttpWorld, proxy: RunningProxy, method: string): Promise<Answer>;
}

const NODE_PROGRAM = `const [, , url, method] = process.argv;
const res = await fetch(url, { method, ...(method === "POST" && { body: "x=1" }) });
console.log(JSON.stringify({ status: res.status, body: await res.text() }));`;

const PYTHON_PROGRAM = `import json, sys, urllib.request, urllib.error
url, method = sys.argv[1], sys.argv[2]
request = urllib.request.Request(url, method=method, data=b"x=1" if method == "POST" else None)
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    answer = error
print(json.dumps({"status": answer.status, "body": answer.read().decode()}))`;

const parsed = ({ out, err }: { readonly out: string; readonly err: string }): Answer => {
  if (out === "") throw new Error(`it said nothing but ${err}`);
  return JSON.parse(out);
};

const CLIENTS: readonly Client[] = [
  {
    name: "curl",
    ...(!has("curl") && { missing: "there is no curl" }),
    async send({ origin }, { env }, method) {
      const body = method === "POST" ? ["-d", "x=1"] : [];
      const { out } = await program(
        ["curl", "-sS", "-X", method, ...body, "-w", "\n%{http_code}", `${origin}/items`],
        env,
      );
      const [, text = "", status = ""] = /^([^]*)\n([0-9]+)$/.exec(out) ?? [];
      return { status: Number(status), body: text };
    },
  },
  {
    name: "Node's fetch",
    async send({ path, origin }, { env }, method) {
      const file = join(path, "agent.mjs");
      await writeFile(file, NODE_PROGRAM);
      return parsed(
        await program([process.execPath, "--import", PATCH, file, `${origin}/items`, method], env),
      );
    },
  },
  {
    name: "Python's urllib",
    ...(!has("python3") && { missing: "there is no python3" }),
    async send({ path, origin }, { env }, method) {
      const file = join(path, "agent.py");
      await writeFile(file, PYTHON_PROGRAM);
      return parsed(await program(["python3", file, `${origin}/items`, method], env));
    },
  },
];

const codeOf = ({ body }: Answer): unknown => JSON.parse(body).error.code;

const ALL = CLIENTS.flatMap((client) => FORMS.map((form) => ({ ...client, ...form })));

describe.each(ALL)("$name through acp proxy http, $form", ({ name, missing, send, env }) => {
  it.skipIf(missing !== undefined)(
    `is let through, asked about, refused with a reason, and let through for 180 s${missing === undefined ? "" : ` (skipped: ${missing})`}`,
    async () => {
      await using world = await httpWorld();
      const proxy = await startProxy(world.home, [], env);
      await using _silent = await attachSilent(world.home);
      const ask = async (words: readonly string[]): Promise<Answer> => {
        const [answer] = await Promise.all([
          send(world, proxy, "POST"),
          answerNext(world.home, words),
        ]);
        return answer;
      };

      expect(await send(world, proxy, "GET")).toEqual({
        status: 200,
        body: "reached: GET /items\n",
      });

      const never = await send(world, proxy, "DELETE");
      expect([never.status, codeOf(never)]).toEqual([403, "policy_denied"]);

      const no = await ask(["--deny", "--reason", "not on a Sunday"]);
      expect([no.status, codeOf(no)]).toEqual([403, "consent_denied"]);
      expect(no.body).toContain("not on a Sunday");

      expect(await ask(["--approve"])).toEqual({ status: 200, body: "reached: POST /items x=1\n" });
      // One yes is for one request: the next is asked about again, and this yes covers more.
      expect(await ask(["--approve", "--offer", "host"])).toMatchObject({ status: 200 });
      expect(await send(world, proxy, "POST")).toMatchObject({ status: 200 });

      expect(world.reached).toEqual([
        "GET /items",
        "POST /items x=1",
        "POST /items x=1",
        "POST /items x=1",
      ]);
      const { grants } = JSON.parse((await acp(["grants", "--json"], { home: world.home })).stdout);
      expect(grants).toMatchObject([
        {
          agentId: "http-client",
          covers: expect.stringContaining(world.authority.replace(":", " port ")),
        },
      ]);
      expect(grants[0].expiresAtMs - grants[0].createdAtMs).toBe(180_000);
      expect(name).not.toBe("");
    },
  );
});

const TUNNELS = has("curl") ? FORMS : [];

describe.each(TUNNELS)("a tunnel through acp proxy http, $form", ({ env }) => {
  const tunnel = (world: HttpWorld, proxy: RunningProxy): ReturnType<typeof program> =>
    program(
      ["curl", "-sS", "--proxytunnel", "-w", "%{http_connect}", `${world.origin}/inside`],
      proxy.env,
    );

  it("is one question about a host and a port; what passes inside is not judged", async () => {
    await using world = await httpWorld();
    const proxy = await startProxy(world.home, [], env);
    await using _silent = await attachSilent(world.home);
    const [yes] = await Promise.all([tunnel(world, proxy), answerNext(world.home, ["--approve"])]);
    expect(yes).toMatchObject({ code: 0, out: "reached: GET /inside\n200" });
    const [no] = await Promise.all([tunnel(world, proxy), answerNext(world.home, ["--deny"])]);
    expect(no).toMatchObject({ out: "403" });
    expect(no.code).not.toBe(0);
    expect(world.reached).toEqual(["GET /inside"]);
  });
});
