/**
 * `acp uninstall`: takes ACP out of the settings of clients, removes the home's service, ends the
 * resident, and says what is left. The home stays unless somebody asks for its end and types its path.
 */
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { asError, ConsentError, escapeText, systemClock } from "@acp/core";
import { syncDirectory } from "@acp/home";
import { askLine, askYes } from "../ask-yes.js";
import { foreignIn } from "../backup/foreign.js";
import { refuseLive } from "../backup/live.js";
import { asideName } from "../backup/swap.js";
import { changeClientFile, planChange } from "../clients/change-client-file.js";
import type { ClientChange } from "../clients/change-client-file.js";
import { linesWith, readClientFiles } from "../clients/client-files.js";
import type { ClientFiles, NamedAt } from "../clients/client-files.js";
import type { Invocation, Run } from "../command.js";
import { exists } from "../home/exists.js";
import { homeOf, homePath } from "../home/home-source.js";
import { endResident } from "./resident.js";
import { removeServiceOf } from "./service.js";

/** What is found in the settings of clients. */
interface Found {
  readonly changes: readonly ClientChange[];
  /** Lines that a person has to change. */
  readonly byHand: readonly NamedAt[];
  readonly unread: ClientFiles["unread"];
}

/** Runs the command. */
export const uninstall: Run = async (invocation) => {
  const { io, flags, print } = invocation;
  checkFlags(invocation);
  const found = findAcp(await readClientFiles(io));
  const home = homePath(invocation);
  const hasHome = await exists(home);
  const described = describe(found);
  if (!flags.has("yes")) {
    for (const line of described) io.stderr.write(`${line}\n`);
    if (!(await askYes(io, "Change these files, and end the resident?"))) {
      print.notice("Nothing was changed");
      return "failed";
    }
  }
  const changed: { readonly path: string; readonly kept: string }[] = [];
  const failed: string[] = [];
  for (const change of found.changes)
    try {
      changed.push({ path: change.path, kept: await changeClientFile(change) });
    } catch (error) {
      failed.push(asError(error).message);
    }
  // Before the resident ends: nothing starts it again then.
  const service = await removeServiceOf(invocation, home).catch((error: unknown) => {
    failed.push(asError(error).message);
    return undefined;
  });
  const resident = hasHome ? await endResident(invocation) : "none";
  const isDeleted = flags.has("delete-home") && hasHome && (await deleteHome(invocation));
  const isLeft = hasHome && !isDeleted;
  const result = {
    changed,
    failed,
    by_hand: found.byHand,
    unread: found.unread,
    service: service?.path ?? null,
    resident,
    home_left: isLeft ? home : null,
  };
  print.result(result, () => [
    ...(flags.has("yes") ? described : []),
    ...changed.map(
      ({ path, kept }) => `changed ${escapeText(path)}; as it was: ${escapeText(kept)}`,
    ),
    ...failed.map((text) => `${print.tone("red", "not changed")} ${escapeText(text)}`),
    ...(service === undefined
      ? []
      : [`removed ${escapeText(service.path)}; if it runs, end it: ${service.end}`]),
    ...(resident === "ended" ? ["The resident has ended"] : []),
    ...left({ home, isLeft, isDeleted }),
  ]);
  const isDone = failed.length === 0 && found.unread.length === 0 && resident !== "failed";
  return isDone && resident !== "hung" ? "ok" : "failed";
};

function checkFlags({ flags, io }: Invocation): void {
  if (io.stdin.isTTY) return;
  if (flags.has("delete-home"))
    throw new ConsentError(
      "options_invalid",
      "Cannot delete the home: its path must be typed at a terminal, and standard input is none",
    );
  if (!flags.has("yes"))
    throw new ConsentError(
      "options_invalid",
      "Cannot ask you before files are changed: standard input is not a terminal; add --yes to agree",
    );
}

function findAcp({ files, unread }: ClientFiles): Found {
  const changes: ClientChange[] = [];
  const byHand: NamedAt[] = [];
  for (const file of files) {
    const change = planChange(file);
    if (change === undefined) byHand.push(...linesWith([file], ["acp", "acp.cjs", "@acp/cli"]));
    else if (change.changes.length > 0) changes.push(change);
  }
  return { changes, byHand, unread };
}

const WORDS = {
  unwrapped: "starts without the gate:",
  server_removed: "goes:",
  hook_removed: "goes, and its agent no longer asks here:",
} as const;

function describe({ changes, byHand, unread }: Found): readonly string[] {
  const lines = [
    ...changes.flatMap(({ path, changes: all }) => [
      path,
      ...all.map(({ at, kind, command }) => `  ${at} ${WORDS[kind]} ${command.join(" ")}`),
    ]),
    ...byHand.map(({ file, line }) => `${file}:${line} names acp; change it yourself`),
    ...unread.map(({ path, why }) => `${path} cannot be read, and may name acp: ${why}`),
  ];
  const none = ["No settings of a client name acp, in your home directory and in this one."];
  return (lines.length === 0 ? none : lines).map((line) => escapeText(line));
}

/** The path is typed, and the home loses its name before it loses a file. */
async function deleteHome(invocation: Invocation): Promise<boolean> {
  const { io, print } = invocation;
  const { dir } = await homeOf(invocation);
  await refuseLive("delete", dir);
  const foreign = await foreignIn(dir);
  const others =
    foreign.length === 0
      ? ""
      : `These in it are not ACP's, and would go with it: ${foreign.map((name) => escapeText(name)).join(", ")}\n`;
  const question = `${others}This deletes keys, vault and audit logs for good. Back them up first: acp backup FILE\nType ${escapeText(dir)} to delete them: `;
  if ((await askLine(io, question)) !== dir) {
    print.notice("The home was not deleted: its path was not typed");
    return false;
  }
  const doomed = await asideName(dir, "deleted", systemClock.now());
  await rename(dir, doomed);
  await syncDirectory(dirname(dir));
  await rm(doomed, { recursive: true });
  return true;
}

function left({
  home,
  isLeft,
  isDeleted,
}: {
  readonly home: string;
  readonly isLeft: boolean;
  readonly isDeleted: boolean;
}): readonly string[] {
  return [
    ...(isLeft
      ? [`Left: ${escapeText(home)}, with its keys, vault, policy and audit logs`]
      : isDeleted
        ? [`Deleted: ${escapeText(home)}`]
        : []),
    "Left: the program itself; npm uninstall -g @acp/cli removes it. Restart your clients.",
    "Settings in other projects were not looked at: run acp uninstall there too.",
  ];
}
