/**
 * Overlay kit: a workspace, and a hidden home in which what agents write to it is kept.
 */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { removeTree } from "../src/remove-tree.js";
import type { ConfinementOptions } from "../src/parts.js";

export const AGENT_UID = 61_009;
const isRoot = process.getuid?.() === 0;

/** A workspace with a home beside it. */
export interface OverlayWorld extends AsyncDisposable {
  readonly work: string;
  readonly home: string;
  readonly layers: string;
  readonly options: ConfinementOptions;
  readonly write: (name: string, text: string) => void;
  /** Every path below the workspace, with what it holds. */
  readonly look: () => readonly string[];
}

/** Makes one; everything in it belongs to the agent's user. */
export function overlayWorld(files: Readonly<Record<string, string>> = {}): OverlayWorld {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "acp-overlay-")));
  chmodSync(top, 0o755);
  const [work, home] = [join(top, "work"), join(top, "home")];
  mkdirSync(work);
  mkdirSync(home, { mode: 0o700 });
  const layers = join(home, "layers");
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
    if (isRoot) own(work);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  if (isRoot) own(work);
  const workspace = { path: work, access: "overlay", layers } as const;
  return {
    work,
    home,
    layers,
    options: { workspace, hidden: [home], ...(isRoot && { user: AGENT_UID }) },
    write,
    look: () => lookAt(work, "").slice(1),
    [Symbol.asyncDispose]: () => removeTree(top),
  };
}

function own(path: string): void {
  if (lstatSync(path).isSymbolicLink()) return;
  chownSync(path, AGENT_UID, AGENT_UID);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name));
}

function lookAt(top: string, name: string): readonly string[] {
  const path = join(top, name);
  const found = lstatSync(path);
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isSymbolicLink()) return [`${name} -> ${readlinkSync(path)}`];
  if (!found.isDirectory())
    return [`${name} ${mode} ${found.isFile() ? readFileSync(path, "latin1") : "special"}`];
  const below = readdirSync(path).sort();
  return [`${name}/ ${mode}`, ...below.flatMap((each) => lookAt(top, join(name, each)))];
}
