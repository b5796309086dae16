import { createMasker, Secret } from "@acp/core/vault";
import { describe, expect, it } from "vitest";
import { json, webServer } from "../../test/support/web-server.js";
import { exchangeAuthorized, maskedHandlers } from "./authorization.js";
import type { RemoteAuthorization } from "./authorization.js";

const TOKEN = "a-token-0123456789";
const stubborn: RemoteAuthorization = {
  header: () => Promise.resolve(`Bearer ${TOKEN}`),
  refused: () => Promise.resolve("again"),
  masker: () => createMasker([new Secret({ name: "T", value: TOKEN })]),
};

describe("exchangeAuthorized()", () => {
  it("sends a request twice at most", async () => {
    await using server = await webServer((_asked, response) => json(response, 401, {}));
    const { signal } = new AbortController();
    const sent = exchangeAuthorized(stubborn, new URL(server.url), {
      method: "POST",
      headers: {},
      signal,
    });
    await expect(sent).rejects.toMatchObject({ code: "authorization_refused" });
    expect(server.asked).toHaveLength(2);
  });

  it("waits for no credentials of a request that was taken back", async () => {
    await using server = await webServer((_asked, response) => json(response, 401, {}));
    for (const slow of ["header", "refused"] as const) {
      const over = new AbortController();
      const sent = exchangeAuthorized(
        {
          ...stubborn,
          [slow]: () => {
            setImmediate(() => over.abort(new Error("taken back")));
            return new Promise(() => {});
          },
        },
        new URL(server.url),
        { method: "POST", headers: {}, signal: over.signal },
      );
      await expect(sent).rejects.toThrow("taken back");
    }
    expect(server.asked).toHaveLength(1);
  });
});

describe("maskedHandlers()", () => {
  it("lets no token through, whatever way it is said", () => {
    const heard: string[] = [];
    const handlers = maskedHandlers("web", stubborn, {
      bytesMax: 1_000,
      say: (line) => heard.push(line.toString()),
      pause: () => undefined,
      log: (line) => void heard.push(line),
      lost: (reason) => void heard.push(reason),
    });
    handlers.log(`a ${TOKEN}`);
    handlers.lost(`b ${TOKEN}`);
    handlers.say(Buffer.from(`{"id":1,"result":"c ${TOKEN}"}\n`));
    expect(heard).toEqual(["a [secret T]", "b [secret T]", '{"id":1,"result":"c [secret T]"}\n']);
  });
});
