/**
 * Examination of the tool pins: with a file that cannot be read, no server's tools are
 * listed; with a full one, no new server's.
 */
import { asError } from "@acp/core";
import { parseToolPins, PINNED_SERVERS_MAX, readPrivateFile } from "@acp/home";
import type { DoctorContext } from "../context.js";
import type { Examination } from "../examination.js";
import { makeFound } from "../finding.js";
import type { Found } from "../finding.js";
import { setAside } from "../mend/set-aside.js";
import { isPrivateFile } from "./private.js";

/** The pins of tools. */
export const toolPinsExamination: Examination = {
  id: "tool-pins",
  looksAt: "Pins of tools can be read",
  look,
};

const FILE_BYTES_MAX: number = 16 * 1024 * 1024;

async function look({ home }: DoctorContext): Promise<readonly Found[]> {
  const path = home.toolPinsPath;
  // Modes and links are the examination of files' to say.
  if (!(await isPrivateFile(path))) return [];
  const found = await problemOf(path);
  if (found === undefined) return [];
  const mend = {
    what: `set ${path} aside; every tool is seen for the first time again`,
    note: "before",
    run: () => setAside(home, path),
  } as const;
  return [makeFound("pins_broken", { path, found, mend })];
}

async function problemOf(path: string): Promise<string | undefined> {
  try {
    const { length } = parseToolPins(await readPrivateFile(path, FILE_BYTES_MAX));
    return length < PINNED_SERVERS_MAX
      ? undefined
      : `it has ${length} servers, and no room for another`;
  } catch (error) {
    return asError(error).message;
  }
}
