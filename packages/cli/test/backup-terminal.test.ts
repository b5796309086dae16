/** What a person types at a terminal: to `acp doctor --fix`, `acp backup` and `acp restore`. */
import { chmod, lstat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { folder } from "./backup-world.js";
import { codesOf, doctorWorld, removeTemplate } from "./doctor-world.js";
import { BIN } from "./harness.js";
import { openPane, words } from "./pane.js";

afterAll(removeTemplate);

it("acp doctor --fix asks before each change, and does what was agreed to", async () => {
  const world = await doctorWorld();
  const { home } = world;
  await chmod(home.passkeysPath, 0o644);
  const left = join(home.dir, ".grants.json.1.0123456789ab.tmp");
  await writeFile(left, "x", { mode: 0o600 });
  await chmod(home.vaultPath, 0o644);
  const fix = words(process.execPath, BIN, "doctor", "--fix", "--quick", "--home", home.dir);
  {
    await using pane = await openPane(fix, await folder());
    let answered = 0;
    for (;;) {
      const asked = new RegExp(`(?:\\[y/N\\][\\s\\S]*){${answered + 1}}$|exit \\d`);
      const screen = await pane.until(asked);
      if (/exit \d/.test(screen)) break;
      await pane.type(/vault\.json[^[]*\[y\/N\]\s*$/.test(screen) ? "n" : "y");
      answered += 1;
    }
    expect(answered).toBeGreaterThan(1);
  }
  expect((await lstat(home.passkeysPath)).mode & 0o777).toBe(0o600);
  expect((await lstat(home.vaultPath)).mode & 0o777).toBe(0o644);
  expect(codesOf(await world.examine())).toContain("file_open");
});

it("acp backup asks twice for a passphrase that nobody sees, and acp restore once", async () => {
  const { home } = await doctorWorld();
  const at = await folder();
  const file = join(at, "b");
  const passphrase = "correct horse";
  {
    await using pane = await openPane(
      words(process.execPath, BIN, "backup", file, "--home", home.dir),
      at,
    );
    await pane.until(/New passphrase for the backup: $/m);
    await pane.type(passphrase);
    await pane.until(/Repeat the passphrase: $/m);
    await pane.type("another one");
    expect(await pane.until(/exit 2/)).toContain("the two entries differ");
  }
  {
    await using pane = await openPane(
      words(process.execPath, BIN, "backup", file, "--home", home.dir),
      at,
    );
    await pane.until(/New passphrase for the backup: $/m);
    await pane.type(passphrase);
    await pane.until(/Repeat the passphrase: $/m);
    await pane.type(passphrase);
    expect(await pane.until(/exit 0/)).not.toContain(passphrase);
  }
  const restore = words(process.execPath, BIN, "restore", file, "--home", home.dir);
  {
    await using pane = await openPane(restore, at);
    await pane.until(/Passphrase of the backup: $/m);
    await pane.type("wrong horse");
    expect(await pane.until(/exit 3/)).toContain("the passphrase or key file is wrong");
  }
  await using pane = await openPane(restore, at);
  await pane.until(/Passphrase of the backup: $/m);
  await pane.type(passphrase);
  await pane.until(/\[y\/N\] $/m);
  await pane.type("y");
  expect(await pane.until(/exit 0/)).toContain("restored");
});
