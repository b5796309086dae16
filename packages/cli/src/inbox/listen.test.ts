import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { listen } from "./listen.js";
import type { InboxPlace } from "./settings.js";

const LOOPBACK: InboxPlace = {
  port: 0,
  isPortMeant: true,
  socketPath: undefined,
  origin: undefined,
};
const uid = process.getuid?.() ?? 0;
const folders: string[] = [];

async function socketPlace(): Promise<InboxPlace & { readonly socketPath: string }> {
  const folder = await mkdtemp(join(tmpdir(), "acp-"));
  folders.push(folder);
  return {
    port: 0,
    isPortMeant: true,
    socketPath: join(folder, "i.sock"),
    origin: "https://inbox.example.com",
  };
}

const warnings: string[] = [];
const warn = (text: string): void => void warnings.push(text);

function hasIpv6(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(0, "::1", () => server.close(() => resolve(true)));
  });
}

/** What a request gets. */
function answerOf(
  where:
    | {
        readonly port: number;
        readonly host?: string;
        readonly headers?: { readonly cookie: string };
      }
    | { readonly socketPath: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", ...where }, (answer) => {
      answer.setEncoding("utf8").on("data", resolve);
    });
    sent.on("error", reject).end();
  });
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

describe("listen()", () => {
  it("serves who may come over loopback, and everybody where somebody stands in front", async () => {
    for (const from of [uid, undefined]) {
      await using server = await listen((_, answer) => void answer.end("here"), {
        place: LOOPBACK,
        uid: from,
        warn,
      });
      expect(await answerOf(server)).toBe("here");
    }
  });

  it.skipIf(process.platform !== "linux")(
    "closes a connection of another user unread, skipped: only Linux says whose it is",
    async () => {
      let heard = 0;
      await using server = await listen(
        (_, answer) => {
          heard += 1;
          answer.end("here");
        },
        { place: LOOPBACK, uid: uid + 1, warn },
      );
      await expect(answerOf(server)).rejects.toMatchObject({ code: "ECONNRESET" });
      expect(heard).toBe(0);
    },
  );

  it("hears a request with all the cookies that other ports can have the browser send along", async () => {
    await using server = await listen((_, answer) => void answer.end("here"), {
      place: LOOPBACK,
      uid,
      warn,
    });
    expect(
      await answerOf({ port: server.port, headers: { cookie: `x=${"y".repeat(720_000)}` } }),
    ).toBe("here");
  });

  it("serves a Unix socket of its own user, and takes it away", async () => {
    const place = await socketPlace();
    {
      await using server = await listen((_, answer) => void answer.end("here"), {
        place,
        uid,
        warn,
      });
      expect([
        server.port,
        (await stat(place.socketPath)).mode & 0o777,
        await answerOf(place),
      ]).toEqual([0, 0o600, "here"]);
      await expect(listen(() => {}, { place, uid, warn })).rejects.toMatchObject({
        code: "options_invalid",
      });
      expect(await answerOf(place)).toBe("here");
    }
    await expect(stat(place.socketPath)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("does not listen where something else is", async () => {
    const place = await socketPlace();
    await writeFile(place.socketPath, "a file");
    await expect(listen(() => {}, { place, uid, warn })).rejects.toMatchObject({
      code: "options_invalid",
    });
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(
      listen(() => {}, { place: { ...LOOPBACK, port }, uid, warn }),
    ).rejects.toMatchObject({
      code: "options_invalid",
      message: expect.stringMatching(
        /port \d+: (process \d+ of uid \d+ \(.*node|listen EADDRINUSE)/,
      ) as unknown,
    });
    {
      // The usual port, which nobody asked for: another one serves as well, and says whose fault it
      // is.
      await using server = await listen((_, answer) => void answer.end("here"), {
        place: { ...LOOPBACK, port, isPortMeant: false },
        uid,
        warn,
      });
      expect(server.port).not.toBe(port);
      expect(warnings.at(-1)).toMatch(/Cannot listen .*Using another port instead/);
    }
    await new Promise((resolve) => other.close(resolve));
  });

  it("has its port on ::1 too, where browsers look first: nobody else stands there, and where somebody does it does not listen", async () => {
    if (!(await hasIpv6())) return;
    {
      await using server = await listen((_, answer) => void answer.end("here"), {
        place: LOOPBACK,
        uid,
        warn,
      });
      expect(await answerOf({ port: server.port, host: "::1" })).toBe("here");
    }
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen({ port: 0, host: "::1" }, resolve));
    const address = squatter.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(
      listen(() => {}, { place: { ...LOOPBACK, port }, uid, warn }),
    ).rejects.toMatchObject({ code: "options_invalid" });
    await new Promise((resolve) => squatter.close(resolve));
  });
});
