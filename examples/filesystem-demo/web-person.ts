/**
 * The person at a browser, for `npm run demo -- --web`: `acp inbox` beside the gate, as anybody
 * would start it. Nobody answers in their place.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Person } from "./person.js";
import type { Step } from "./steps.js";
import { commandOf } from "./world.js";

/** Opens the inbox of the gate's home, and says where to sign in. */
export async function openWebPerson(home: string, signal: AbortSignal): Promise<Person> {
  const acp = commandOf("@acp/cli", "bin/acp.cjs");
  const child = spawn(process.execPath, [acp, "inbox", "--home", home, "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  // Also where the demo ends in a way that lets go of nothing.
  const kill = (): void => void child.kill();
  process.once("exit", kill);
  let complaint = "";
  child.stderr.on("data", (chunk) => {
    complaint += String(chunk);
  });
  const isOver = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const gone = isOver.then(() =>
    Promise.reject(new Error(`acp inbox has ended: ${complaint.trim()}`)),
  );
  gone.catch(() => undefined); // heard where somebody waits
  const told = new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once("line", resolve),
  );
  const close = async (): Promise<void> => {
    process.off("exit", kill);
    kill();
    await isOver;
  };
  try {
    const address = signInOf(await Promise.race([told, gone, aborted(signal)]));
    return {
      isScripted: false,
      introduction: `You are the person who is asked. Open this page; the code in its address serves once:\n\n   ${address}\n`,
      hint: ({ hint }: Step) => hint?.what,
      attend: async (_, call) => void (await Promise.race([call.catch(() => undefined), gone])),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The address of the page with the one-time code in it, from what `acp inbox --json` prints. */
function signInOf(line: string): string {
  const told: unknown = JSON.parse(line);
  if (
    typeof told === "object" &&
    told !== null &&
    "sign_in" in told &&
    typeof told.sign_in === "string"
  )
    return told.sign_in;
  throw new Error("acp inbox did not say where to sign in");
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
    if (signal.aborted) reject(new Error("stopped"));
  });
}
