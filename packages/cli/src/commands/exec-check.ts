/**
 * `acp exec check`: how risky commands are, and why. Nothing is run.
 */
import { createInterface } from "node:readline";
import { isAbsolute, resolve } from "node:path";
import { ConsentError, escapeText, isJsonObject, nearest, parseJson, quoteText } from "@acp/core";
import type { Effect } from "@acp/core";
import { evaluateCommandSafety, execEffect } from "@acp/core/exec";
import type { CommandRisk, CommandSafety, SafetyReason } from "@acp/core/exec";
import type { Invocation, Run } from "../command.js";
import type { Exit } from "../exit-codes.js";
import { readExecProfile } from "../exec/exec-profile.js";
import type { ExecProfile } from "../exec/exec-profile.js";
import { underline } from "../exec/underline.js";
import { failureOf } from "../failure.js";
import type { Printer, Tone } from "../printer.js";
import type { CommandPlace } from "../exec/command-place.js";

const EXITS: Readonly<Record<CommandRisk, Exit>> = {
  safe: "ok",
  "needs-review": "review",
  dangerous: "dangerous",
};
const TONES: Readonly<Record<CommandRisk, Tone>> = {
  safe: "green",
  "needs-review": "yellow",
  dangerous: "red",
};
const EFFECTS: Readonly<Record<Effect, string>> = {
  allow: "runs unasked",
  ask: "a person is asked",
  deny: "is denied",
};

/** A command, judged. */
interface Judged {
  readonly command: string;
  readonly safety: CommandSafety;
  /** What the profile says about it. */
  readonly effect: Effect;
}

/** Runs the command. */
export const execCheck: Run = async (invocation) => {
  const { operands, flags, print } = invocation;
  const [command] = operands;
  if (flags.has("stdin") === (command !== undefined)) {
    throw new ConsentError(
      "options_invalid",
      "Cannot tell what to check: give one COMMAND in quotes, or --stdin and no COMMAND",
    );
  }
  const profile = await readExecProfile(invocation);
  const place = placeOf(invocation);
  if (command === undefined) return checkLines(invocation, profile, place);
  const judged = judge(command, profile, place);
  print.result(toJson(judged), () => render(judged, profile, print));
  return EXITS[judged.safety.riskLevel];
};

function placeOf({ values, io }: Invocation): CommandPlace {
  const cwd = resolve(io.cwd, values.cwd ?? ".");
  return {
    cwd,
    ...(values.project === undefined ? {} : { projectRoot: resolve(io.cwd, values.project) }),
  };
}

function judge(command: string, { config }: ExecProfile, place: CommandPlace): Judged {
  const safety = evaluateCommandSafety(command, {
    ...place,
    allowlist: config.allowlist,
    loopbackPorts: config.loopbackPorts,
  });
  return { command, safety, effect: execEffect(config, safety) };
}

function toJson({ command, safety, effect }: Judged): object {
  return { command, ...safety, effect };
}

/**
 * One line of JSON for every line of JSON, as they come; a line that cannot be read does not end
 * the run.
 */
async function checkLines(
  { io }: Invocation,
  profile: ExecProfile,
  place: CommandPlace,
): Promise<Exit> {
  let exit: Exit = "ok";
  let line = 0;
  for await (const text of createInterface({
    input: io.stdin,
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    line += 1;
    if (text.trim() === "") continue;
    let answer: object;
    try {
      const { command, cwd } = readLine(text);
      answer = toJson(judge(command, profile, { ...place, ...(cwd === undefined ? {} : { cwd }) }));
    } catch (error) {
      exit = "failed";
      answer = { error: { ...failureOf(error), line } };
    }
    io.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  return exit;
}

/**
 * A command as a JSON string, or `{ "command": …, "cwd": … }`; other keys are the caller's own,
 * unless they look like a slip.
 */
function readLine(text: string): { readonly command: string; readonly cwd?: string } {
  const value = parseJson(text);
  if (typeof value === "string") return { command: value };
  const fail = (why: string): ConsentError =>
    new ConsentError("options_invalid", `Cannot read a line: ${why}`);
  if (!isJsonObject(value)) throw fail('it is neither a JSON string nor { "command": … }');
  const { command, cwd, ...others } = value;
  for (const key of Object.keys(others)) {
    const meant = nearest(key, ["command", "cwd"]);
    if (meant !== undefined)
      throw fail(`its key ${quoteText(key)} is not known; did you mean "${meant}"?`);
  }
  if (typeof command !== "string") throw fail('its "command" is not a string');
  if (cwd === undefined) return { command };
  if (typeof cwd !== "string" || !isAbsolute(cwd)) throw fail('its "cwd" is not an absolute path');
  return { command, cwd };
}

function render(
  { command, safety, effect }: Judged,
  { file }: ExecProfile,
  print: Printer,
): readonly string[] {
  const { riskLevel, reasons, rewrite } = safety;
  const tone = TONES[riskLevel];
  const lines = underline(
    command,
    reasons.map(({ span }) => span),
  );
  return [
    `${print.tone(tone, riskLevel)}${file === undefined ? "" : `: it ${effect === "ask" ? "waits, " : ""}${EFFECTS[effect]} under ${escapeText(file)}`}`,
    "",
    ...lines.flatMap(({ text, marks }) =>
      marks === "" ? [`  ${text}`] : [`  ${text}`, `  ${print.tone(tone, marks)}`],
    ),
    ...(reasons.length === 0
      ? []
      : ["", ...reasons.map((reason) => renderReason(reason, command, print))]),
    ...(rewrite === undefined
      ? []
      : [
          "",
          `  Safe alternative: ${escapeText(rewrite.reason)}`,
          "",
          `  ${escapeText(rewrite.command)}`,
        ]),
  ];
}

const SNIPPET_CHARS_MAX = 40;
const LEVEL_WIDTH = "needs-review".length;

function renderReason(
  { level, ruleId, message, span }: SafetyReason,
  command: string,
  print: Printer,
): string {
  const snippet = command.slice(span.start, span.end);
  const where =
    snippet.length > SNIPPET_CHARS_MAX ? `${snippet.slice(0, SNIPPET_CHARS_MAX)}…` : snippet;
  const source = print.tone("dim", `[${ruleId}] ${escapeText(where)}`.trimEnd());
  return `  ${print.tone(TONES[level], level.padEnd(LEVEL_WIDTH))}  ${escapeText(message)} ${source}`;
}
