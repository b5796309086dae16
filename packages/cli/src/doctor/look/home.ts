/**
 * Examination of the home itself: whether it is there, whose it is, and who may enter. Where it
 * cannot be entered, nothing else can be said.
 */
import { chmod, lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { asError } from "@acp/core";
import { leftStagings, removeStaging } from "../../backup/staging.js";
import { readSwap, settleSwap } from "../../backup/swap.js";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";

/** The home. */
export const homeExamination: Examination = {
  id: "home",
  looksAt: "The home exists, is yours, and only you may enter it",
  look,
};

async function look({ home: { dir }, io }: DoctorContext): Promise<readonly Found[]> {
  const sandbox = io.env["ACP_SANDBOX"] ?? "";
  const inside =
    sandbox === ""
      ? []
      : [makeFound("sandbox_inside", { found: `This runs inside sandbox "${sandbox}"` })];
  const left = await stagingsLeft(dir);
  try {
    return [...inside, ...(await lookAt(dir)), ...left];
  } catch (error) {
    return [...inside, await unreadable(dir, error), ...left];
  }
}

/** What a killed restore or move left beside the home. */
async function stagingsLeft(dir: string): Promise<readonly Found[]> {
  const plan = await readSwap(dir).catch(() => undefined);
  return (await leftStagings(dir, plan?.staging)).map((left) =>
    makeFound("restore_left", {
      path: left.dir,
      found: `A ${left.kind} of this home ended before it was done`,
      mend: {
        what: `remove ${left.dir}, which nothing uses`,
        note: "after",
        async run() {
          await removeStaging(left);
          return `Removed ${left.dir}`;
        },
      },
    }),
  );
}

async function lookAt(dir: string): Promise<readonly Found[]> {
  const found = await lstat(dir);
  if (found.isSymbolicLink())
    return [makeFound("home_link", { path: dir, found: `It is a link to ${await targetOf(dir)}` })];
  if (!found.isDirectory())
    return [makeFound("home_not_directory", { path: dir, found: "It is not a directory" })];
  const uid = process.getuid?.() ?? -1;
  if (found.uid !== uid) {
    const parts = { path: dir, found: `It belongs to uid ${found.uid}, and you are uid ${uid}` };
    return [makeFound("home_foreign", parts)];
  }
  const open = (found.mode & 0o077) === 0 ? [] : [openFound(dir, found.mode)];
  if ((found.mode & 0o700) !== 0o700) {
    const text = `Its mode is ${octal(found.mode)}, so that you may not use it yourself`;
    return [...open, makeFound("home_unreadable", { path: dir, found: text, ...mode700(dir) })];
  }
  await readdir(dir);
  return [...open, ...(await ancestors(dir))];
}

function openFound(dir: string, mode: number): Found {
  const found = `Its mode is ${octal(mode)}, so that other users can enter`;
  return makeFound("home_open", { path: dir, found, ...mode700(dir) });
}

const mode700 = (dir: string): Pick<Found, "mend"> & { readonly command: string } => ({
  command: "chmod 700 PATH",
  mend: {
    what: `run chmod 700 ${dir}`,
    note: "after",
    async run() {
      await chmod(dir, 0o700);
      return `Only you may enter ${dir}`;
    },
  },
});

const targetOf = (dir: string): Promise<string> => realpath(dir).catch(() => "nothing");

async function ancestors(dir: string): Promise<readonly Found[]> {
  for (let at = dirname(await realpath(dir)); ; at = dirname(at)) {
    const { mode } = await stat(at);
    if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0) {
      const found = `Anyone may write in ${at}, above the home`;
      return [makeFound("home_replaceable", { path: at, found })];
    }
    if (at === dirname(at)) return [];
  }
}

async function unreadable(dir: string, error: unknown): Promise<Found> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  if (code === "ENOENT" || code === "ENOTDIR")
    return (
      (await halfMoved(dir)) ?? makeFound("home_missing", { path: dir, found: "There is no home" })
    );
  return makeFound("home_unreadable", { path: dir, found: `It cannot be looked at: ${code}` });
}

/** A mode as `chmod` takes it. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(3, "0");
}

/** A home that a restore or move left between two renames. */
async function halfMoved(dir: string): Promise<Found | undefined> {
  const plan = await readSwap(dir).catch(asError);
  if (plan === undefined) return undefined;
  if (plan instanceof Error)
    return makeFound("home_half_moved", {
      path: dir,
      found: plan.message,
      command: "ls -la PATH*",
    });
  const { kind, aside, target } = plan;
  return makeFound("home_half_moved", {
    path: dir,
    found: `A ${kind} of it was interrupted; the home that was there is ${aside}`,
    mend: {
      what: `finish the ${kind}, so that the new home is ${target}`,
      note: "own",
      async run() {
        const settled = await settleSwap(dir);
        return settled?.end === "undone" ? `${dir} is in its place` : `${target} is in its place`;
      },
    },
  });
}
