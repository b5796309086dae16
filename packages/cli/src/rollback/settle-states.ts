/**
 * Settling states: a process may have ended between saving a file and noting that. Whoever starts
 * next notes what is there, so that from then on an older file is seen.
 */
import { randomIds, systemClock } from "@acp/core";
import type { VaultMark } from "@acp/core/vault";
import { judgeState, stateSavedEvent } from "@acp/core/unstable";
import type { FileState, StateKind, StateMark } from "@acp/core/unstable";
import { readPrivateFile, readPublicKeys, readState, whileWriting } from "@acp/home";
import type { HomePaths } from "@acp/home";
import { followNotedStates } from "./noted-states.js";
import type { NotedFollower, NotedStates } from "./noted-states.js";
import { newerKeys } from "./sealed-files.js";
import type { Append } from "./state-guard.js";

const FILE_BYTES_MAX: number = 16 * 1024 * 1024;

/** What is known already. */
export interface KnownStates {
  /** The vault's, where it was opened. */
  readonly vaultMark?: VaultMark;
  readonly noted?: NotedFollower;
}

/**
 * Notes what is newer than the logs note. What cannot be read is left to who needs it. A file of
 * before that counts no saves is noted with its first one.
 *
 * @throws ConsentError `audit_failed` where a log cannot be read or does not take the note.
 */
export function settleStates(
  home: HomePaths,
  append: Append,
  known: KnownStates = {},
): Promise<void> {
  return whileWriting(home.dir, () => noteNewerStates(home, append, known));
}

/** The same, to be called while the home is locked. */
export async function noteNewerStates(
  home: HomePaths,
  append: Append,
  { vaultMark: vault, noted: follower = followNotedStates(home) }: KnownStates = {},
): Promise<void> {
  const noted = await follower.newest();
  const keys = await readPublicKeys(home).then(
    (periods) => newerKeys(periods, noted.get("keys")),
    () => undefined,
  );
  const news = [
    newsOf("grants", await stateOf(home.grantsPath), noted),
    newsOf("passkeys", await stateOf(home.passkeysPath), noted),
    newsOf("pins", await stateOf(home.toolPinsPath), noted),
    newsOf("vault", vault === undefined ? undefined : { ...vault, isSealed: true }, noted),
    keys,
  ].flatMap((mark) => mark ?? []);
  if (news.length === 0) return;
  await append(
    news.map((mark) =>
      stateSavedEvent(mark, { id: randomIds.next("ae"), atMs: systemClock.now() }),
    ),
  );
}

/** A state that counts and is not noted. */
function newsOf(
  kind: StateKind,
  state: FileState | undefined,
  noted: NotedStates,
): StateMark | undefined {
  if (state === undefined || state.counter === 0) return undefined;
  const mark = noted.get(kind);
  const isNews = mark === undefined || judgeState(state, mark) === "newer";
  return isNews ? { kind, counter: state.counter, hash: state.hash } : undefined;
}

async function stateOf(path: string): Promise<FileState | undefined> {
  const text = await readPrivateFile(path, FILE_BYTES_MAX).catch(() => undefined);
  return text === undefined ? undefined : readState(path, text);
}
