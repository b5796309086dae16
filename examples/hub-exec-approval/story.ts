/**
 * The story: an agent with an `exec` tool, a hub that judges its commands, a gateway, and a
 * person's client. Each command goes through real sockets and a real bash; the log is verified at
 * the end.
 */
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { verifyAuditLog } from "@acp/audit";
import { runTerminalClient } from "@acp/exec-approval";
import { createExecTool } from "./exec-tool.js";
import { answerByScript, type Script } from "./person.js";
import { createWorld, HUB } from "./world.js";

/** How to tell the story. */
export interface StoryOptions {
  /** A folder of its own. */
  readonly folder: string;
  readonly say: (line: string) => void;
  /** A person at this terminal in place of the script. */
  readonly isInteractive?: boolean;
}

/** What came of it. */
export interface StoryEnd {
  /** What the agent read after each command. */
  readonly read: readonly string[];
  readonly arePhotosThere: boolean;
  readonly allowlist: string;
  readonly isLogWhole: boolean;
}

const STEPS: readonly { readonly about: string; readonly command: string }[] = [
  { about: "safe: it only reads, so nobody is asked", command: "head -n 1 notes.txt && ls" },
  {
    about: "needs review: it changes something, so a person is asked",
    command: "cp notes.txt copy.txt",
  },
  {
    about: "dangerous: it deletes outside the project, and the person says no",
    command: "rm -rf ../photos",
  },
  { about: "allowed for good: the program goes into the allowlist", command: "mkdir build" },
  { about: "the same program again: nobody is asked", command: "mkdir build/js" },
];

const decide: Script = ({ command, riskLevel }) => {
  if (riskLevel === "dangerous") return "deny";
  return command.startsWith("mkdir ") ? "allow-always" : "allow-once";
};

/** Tells it. */
export async function runStory({
  folder,
  say,
  isInteractive = false,
}: StoryOptions): Promise<StoryEnd> {
  const read: string[] = [];
  const over = new AbortController();
  let person: Promise<unknown> = Promise.resolve();
  let end: Omit<StoryEnd, "read" | "isLogWhole">;
  let auditPath: string;
  {
    await using world = await createWorld(folder);
    const { hub, phone, project } = world;
    ({ auditPath } = world);
    let settled = (): Promise<unknown> => Promise.resolve();
    if (!isInteractive) settled = answerByScript({ client: phone, hubDeviceId: HUB, decide, say });
    else {
      const { stdin: input, stdout: output } = process;
      person = runTerminalClient({
        client: phone,
        hubDeviceId: HUB,
        input,
        output,
        signal: over.signal,
        format: "text",
      });
    }
    await phone.connect();
    const exec = createExecTool(hub, "coder");
    for (const { about, command } of STEPS) {
      say(`\n# ${about}`);
      say(`agent    runs: ${command}`);
      const text = await exec(command);
      await settled();
      say(`agent    reads: ${text.replaceAll("\n", "\n                ")}`);
      read.push(text);
    }
    end = {
      arePhotosThere: await access(join(project, "..", "photos", "1.jpg")).then(
        () => true,
        () => false,
      ),
      allowlist: await readFile(
        join(folder, "home", "agent-profiles", "coder", "config.json"),
        "utf8",
      ).catch(() => ""),
    };
    over.abort();
    await person;
  }
  const verified = await verifyAuditLog(auditPath);
  say(`\n# the photos are ${end.arePhotosThere ? "still there" : "gone"}`);
  say(`# the log ${verified.ok ? `is whole` : "was changed"}`);
  return { ...end, read, isLogWhole: verified.ok };
}
