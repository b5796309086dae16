/** A real gate whose log is damaged while it runs. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { folder, say } from "./backup-world.js";
import { doctorWorld, poke, removeTemplate } from "./doctor-world.js";
import { startGated } from "./mcp-client.js";

afterAll(removeTemplate);

it("acp mcp denies what the policy allows once its log is damaged, and does not start again until it is set aside", async () => {
  const { home, log } = await doctorWorld();
  await writeFile(home.policyPath, 'version: "1"\ndefault_action: allow\n');
  const at = await folder();
  await writeFile(join(at, "a.txt"), "hello");
  const read = { path: join(at, "a.txt") };
  {
    await using gated = await startGated({ home: home.dir, folder: at });
    expect(await gated.call("read_text_file", read)).toMatchObject({ text: "hello" });
    await poke(log);
    expect(await gated.call("read_text_file", read)).toMatchObject({ code: "audit_failed" });
    expect(await gated.call("read_text_file", read)).toMatchObject({ code: "audit_failed" });
  }
  {
    await using closed = await startGated({ home: home.dir, folder: at });
    expect(closed.client.getInstructions()).toContain("run: acp doctor --fix");
  }
  const fixed = await say(["doctor", "--fix", "log_broken", "--yes", "--home", home.dir]);
  expect(fixed.stdout).toContain("fixed log_broken");
  await using again = await startGated({ home: home.dir, folder: at });
  expect(await again.call("read_text_file", read)).toMatchObject({ text: "hello" });
});
