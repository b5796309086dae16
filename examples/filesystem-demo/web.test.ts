/**
 * `npm run demo -- --web`, answered as its page answers. The page itself is tested in browsers:
 * packages/channel-web/test.
 */
import { describe, expect, it } from "vitest";
import { localFetch } from "../../packages/cli/test/local-fetch.js";
import { FOLDER, leftIn, runDemo, scratch } from "./running-demo.js";
import { STEPS } from "./steps.js";

type Json = ReturnType<typeof JSON.parse>;
const ADDRESS = /(http:\/\/[a-z2-7]{26}\.[a-z2-7]{16}\.localhost:\d+)\/#code=([\w-]+)/;

/** Every event of a stream, read as the standard says as far as the inbox needs it. */
async function* eventsOf(
  stream: Response,
): AsyncGenerator<{ readonly event: string; readonly value: Json }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const [event, data] = ["event", "data"].map(
        (name) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1],
      );
      if (event !== undefined && data !== undefined) yield { event, value: JSON.parse(data) };
    }
  }
}

/**
 * Signs in with the code of the address and gives each question the answer of steps.ts; resolves
 * with their questions when the inbox is gone.
 */
async function answerOnPage(origin: string, code: string): Promise<readonly string[]> {
  const headers = { origin, "content-type": "application/json", "x-acp-inbox": "1" };
  const signed = await localFetch(`${origin}/api/session`, {
    method: "POST",
    headers,
    body: JSON.stringify({ code }),
  });
  expect(signed.status).toBe(200);
  const { key }: Json = await signed.json();
  const cookie = signed.headers.get("set-cookie")?.split(";")[0] ?? "";
  const post = async (path: string, body: object): Promise<Json> =>
    (
      await localFetch(origin + path, {
        method: "POST",
        headers: { ...headers, cookie, "x-acp-inbox": String(key) },
        body: JSON.stringify(body),
      })
    ).json();
  const asked: string[] = [];
  const answer = async ({ request }: Json): Promise<void> => {
    const {
      tool,
      args,
      answer: wanted,
    } = STEPS.find(
      (step) => step.answer !== undefined && step.args["path"] === request.action.parameters.path,
    ) ?? {};
    expect([request.action.tool, request.action.parameters]).toEqual([tool, args]);
    asked.push(request.action.parameters.path);
    const { ticket }: Json = await post("/api/answers/prepare", {
      request_id: request.id,
      ...wanted,
    });
    expect(await post("/api/answers", { ticket })).toMatchObject({ status: "final" });
  };
  try {
    for await (const { event, value } of eventsOf(
      await localFetch(`${origin}/api/events`, { headers: { cookie, "x-acp-inbox": String(key) } }),
    )) {
      if (event === "hello") for (const question of value.open) await answer(question);
      if (event === "open" && !asked.includes(value.request.action.parameters.path))
        await answer(value);
    }
  } catch (error) {
    // The demo ends its inbox, and with it the stream.
    if (!(error instanceof TypeError)) throw error;
  }
  return asked;
}

describe("npm run demo -- --web", () => {
  it("is answered on the page, and leaves nothing behind", async () => {
    await using temporary = await scratch();
    let answered: Promise<readonly string[]> | undefined;
    const { code, text } = await runDemo(FOLDER, temporary.path, {
      args: ["--web"],
      onText: (printed, kill) => {
        const [, origin, signIn] = ADDRESS.exec(printed) ?? [];
        if (answered !== undefined || origin === undefined || signIn === undefined) return;
        answered = answerOnPage(origin, signIn);
        answered.catch(kill);
      },
    });
    expect(await answered).toEqual([
      "project/todo.txt",
      "project/announcement.txt",
      "project/notes.txt",
    ]);
    expect(text).toContain("   hint    change the text before you say yes\n");
    expect(text).toContain("person  approved with modifications");
    expect(text).toContain("We release on Monday");
    expect(text).toContain("person  denied: keep my notes");
    expect(text).toContain("demo    as it has to be");
    expect(code).toBe(0);
    expect(await leftIn(temporary.path)).toEqual([]);
  });

  it("waits for the person, and takes its inbox along when it is interrupted", async () => {
    await using temporary = await scratch();
    let origin = "";
    const { code } = await runDemo(FOLDER, temporary.path, {
      args: ["--web"],
      onText: (printed, kill) => {
        origin = ADDRESS.exec(printed)?.[1] ?? "";
        if (printed.includes("2  agent")) kill();
      },
    });
    expect(code).toBe(130);
    expect(origin).not.toBe("");
    await expect(localFetch(origin)).rejects.toThrow("ECONNREFUSED");
    expect(await leftIn(temporary.path)).toEqual([]);
  });
});
