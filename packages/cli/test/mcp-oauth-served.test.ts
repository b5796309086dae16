/** The built `acp mcp` in front of a server at an address that somebody has signed in to. */
import { createRequire } from "node:module";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startGated } from "./mcp-client.js";
import { signedInWorld } from "./oauth-world.js";

it.each([true, false])("gives it the token, and renews that (resident: %s)", async (isResident) => {
  await using world = await signedInWorld();
  const { double, home, path } = world;
  await writeFile(
    join(home, "policy.yml"),
    'version: "1"\ndefault_action: deny\nrules:\n  - match: { server: web, tool: "*" }\n    action: allow\n',
    { mode: 0o600 },
  );
  await using gated = await startGated({ home, folder: path, server: [], isResident });
  expect(await gated.call("echo", {})).toMatchObject({ text: "done", isError: false });
  double.expire();
  expect(await gated.call("echo", {})).toMatchObject({ text: "done", isError: false });
  expect(double.used.size).toBe(1);
  expect(double.leaks()).toEqual([]);
});

it("finds what renews it from a program that is one file", () => {
  const here = createRequire(new URL("../dist/program.cjs", import.meta.url));
  const beside = createRequire(here.resolve("@acp/proxy-mcp"));
  expect(beside("@acp/proxy-mcp/oauth")).toMatchObject({
    renew: expect.any(Function),
    signIn: expect.any(Function),
  });
});
