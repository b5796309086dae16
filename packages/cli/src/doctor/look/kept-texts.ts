/**
 * Kept texts: the policy texts that were in force, under their hash, and which packages a server is
 * pinned to. Neither decides anything by being there; a changed one must not be taken for the right
 * one.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { asError } from "@acp/core";
import type { HomePaths } from "@acp/home";
import { openPinStore } from "../../servers/pin-store.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { setAside } from "../mend/set-aside.js";
import { isPrivateFile } from "./private.js";

const POLICY = /^([0-9a-f]{64})\.yml$/;

/** Policy texts whose bytes are not those of their name. */
export async function policyTexts(home: HomePaths): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const name of await namesIn(join(home.dir, "policies"))) {
    const hash = POLICY.exec(name)?.[1];
    const path = join(home.dir, "policies", name);
    // Modes and links are the examination of files' to say.
    if (hash === undefined || !(await isPrivateFile(path))) continue;
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes === undefined || createHash("sha256").update(bytes).digest("hex") === hash) continue;
    const mend = {
      what: `set ${path} aside`,
      note: "before",
      run: () => setAside(home, path),
    } as const;
    found.push(makeFound("policy_text_changed", { path, found: "Its text was changed", mend }));
  }
  return found;
}

/** Servers whose pin cannot be read. */
export async function serverPins(home: HomePaths): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const name of await namesIn(join(home.dir, "servers"))) {
    const store = openPinStore(home.dir, name);
    const error = await store.read().then(() => undefined, asError);
    if (error !== undefined)
      found.push(
        makeFound("server_pin_broken", {
          path: join(store.directory, "pin.json"),
          found: error.message,
          command: `acp servers remove ${name}`,
        }),
      );
  }
  return found;
}

const SERVER_OR_TEXT = /^[a-z0-9_-]{1,68}(?:\.yml)?$/;

/** What cannot be looked into is said by the examination of files. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => SERVER_OR_TEXT.test(name)).toSorted();
}
