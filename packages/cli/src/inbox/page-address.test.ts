import { stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { scratch } from "../../test/environment.js";
import { answerAddressOf, pageSocket } from "./answer-address.js";
import { announcePage } from "./page-address.js";

const ORIGIN = "https://inbox.example.com";

describe("announcePage()", () => {
  it("tells gates the page of a question while the inbox runs, to this user alone", async () => {
    await using at = await scratch();
    const address = answerAddressOf(at.path);
    expect(await address("cr_1")).toBeUndefined();
    {
      await using _told = await announcePage(at.path, ORIGIN);
      expect(await address("cr_1")).toBe(`${ORIGIN}/#/q/cr_1`);
      expect(await address("a/b?c#d")).toBe(`${ORIGIN}/#/q/a%2Fb%3Fc%23d`);
      expect((await stat(pageSocket(at.path))).mode & 0o777).toBe(0o600);
      await expect(announcePage(at.path, "https://other.example.com")).rejects.toMatchObject({
        code: "options_invalid",
      });
    }
    expect(await address("cr_1")).toBeUndefined();
    // The next one has the place again.
    await using _again = await announcePage(at.path, ORIGIN);
    expect(await address("cr_1")).toBe(`${ORIGIN}/#/q/cr_1`);
  });

  it("tells nobody a name of this machine", async () => {
    await using at = await scratch();
    for (const origin of ["http://a.b.localhost:8789", "http://localhost:8789", "x"]) {
      await using _told = await announcePage(at.path, origin);
      expect(await answerAddressOf(at.path)("cr_1")).toBeUndefined();
    }
  });
});

describe("answerAddressOf()", () => {
  it.each([
    ["nothing", ""],
    ["an address without an end", ORIGIN],
    ["a name of this machine", "http://localhost:8789\n"],
    ["more than an origin", `${ORIGIN}/#code=x\n`],
    ["very much", "x".repeat(100_000)],
  ])("is nowhere where the socket says %s", async (_, said) => {
    await using at = await scratch();
    await using _made = await announcePage(at.path, ORIGIN);
    await _made[Symbol.asyncDispose]();
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.end(said);
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(pageSocket(at.path), resolve));
    expect(await answerAddressOf(at.path)("cr_1")).toBeUndefined();
  });

  it("is nowhere where a file stands in its place", async () => {
    await using at = await scratch();
    await using _made = await announcePage(at.path, ORIGIN);
    await _made[Symbol.asyncDispose]();
    await writeFile(join(at.path, "run", "inbox.page"), `${ORIGIN}\n`);
    expect(await answerAddressOf(at.path)("cr_1")).toBeUndefined();
  });
});
