/**
 * `acp suggest`: rules that would answer what people always answered alike, out of the audit logs.
 * Writes nothing: a person pastes what they agree with. What is never suggested:
 * docs/how-to/suggest.md.
 */
import { access } from "node:fs/promises";
import { ConsentError, POLICY_BYTES_MAX, escapeText, isoTime } from "@acp/core";
import { suggestRules } from "@acp/suggest";
import type { RuleSuggestion, Suggestions } from "@acp/suggest";
import { homePaths, readPolicyFile } from "@acp/home";
import { createCallHistory } from "../logs/call-history.js";
import { readIndexKey } from "../logs/index-key.js";
import { auditFilesFor, namedLogs } from "../logs/log-files.js";
import type { Invocation, Run } from "../command.js";
import { onFile } from "../failure.js";
import { homeOf, homePath } from "../home/home-source.js";
import { readInput } from "../input.js";
import { readHomeConfig } from "../gate/config.js";
import { createPercent } from "../percent.js";
import type { Printer } from "../printer.js";
import { readWhen } from "../times.js";

/** What is in force where there is no policy file. */
const BUILT_IN = 'version: "1"\ndefault: ask\n';

/** Runs the command. */
export const suggest: Run = async (invocation) => {
  const { values, io, print } = invocation;
  const sinceMs =
    values.since === undefined ? undefined : readWhen(values.since, "since", Date.now());
  const min = values.min === undefined ? undefined : readMin(values.min);
  const named = await namedLogs(invocation);
  const home = homePath({ values, io });
  const files = await auditFilesFor(named, home);
  const policy = await readPolicyText(invocation);
  const percent = createPercent(invocation);
  const options = {
    home: io.userHome,
    cwd: io.cwd,
    ...(min === undefined ? {} : { min }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
  const history = createCallHistory({
    files,
    indexKey: await readIndexKey(homePaths(home)),
    onProgress: ({ bytes, bytesTotal }) =>
      percent.show("Reading the logs", Math.floor((100 * bytes) / Math.max(bytesTotal, 1))),
  });
  const suggested = await suggestRules(history.read, policy.text, options).finally(percent.clear);
  const found = { ...suggested, events: history.events() };
  print.result(toJson(found, policy.file), () => render(found, policy, print));
  return "ok";
};

function readMin(text: string): number {
  const min = Number(text);
  if (/^\d{1,6}$/.test(text) && min >= 2) return min;
  throw new ConsentError(
    "options_invalid",
    `Cannot suggest rules from --min "${text}": write a number from 2 to 999999`,
  );
}

interface PolicyText {
  readonly file: string;
  readonly text: string;
  /** Whether it has rules that another one can stand among. */
  readonly hasRules: boolean;
}

/** The policy that the home's gates follow, checked as they check it. */
async function readPolicyText(invocation: Invocation): Promise<PolicyText> {
  const { io, print } = invocation;
  const { policyFile: file, isPolicyNamed } = await readHomeConfig(
    await homeOf(invocation),
    invocation,
  );
  const isThere =
    isPolicyNamed ||
    (await access(file).then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => code !== "ENOENT",
    ));
  if (!isThere) {
    print.notice(
      `The policy ${file} does not exist: you are asked about every call; acp init writes one`,
    );
    return { file, text: BUILT_IN, hasRules: false };
  }
  const { rules } = await onFile(file, () =>
    readPolicyFile(file, { home: io.userHome, cwd: io.cwd }),
  );
  return {
    file,
    text: await readInput(file, io, { what: "policy", bytesMax: POLICY_BYTES_MAX }),
    hasRules: rules.length > 0,
  };
}

function toJson({ suggestions, ...rest }: Suggestions, policy: string): object {
  const dated = suggestions.map(({ firstMs, lastMs, ...suggestion }) => ({
    ...suggestion,
    first: isoTime(firstMs),
    last: isoTime(lastMs),
  }));
  return { policy, ...rest, suggestions: dated };
}

function render(found: Suggestions, policy: PolicyText, print: Printer): readonly string[] {
  const { suggestions, heldBack, events, answered } = found;
  const read = `Read ${many(events, "event")}; people answered ${many(answered, "question")}.`;
  const heading =
    suggestions.length === 0
      ? [`${read} No rule would answer questions that were always answered the same way.`]
      : [
          `${read} ${many(suggestions.length, "rule")} would answer questions that were always answered the same way.`,
          `Nothing is changed: paste what you agree with into ${escapeText(policy.file)}.`,
        ];
  const reasons = heldBack.map(({ effect, about, count, reason }) =>
    escapeText(
      `  ${effect} ${about}, ${effect === "allow" ? "approved" : "denied"} ${times(count)}: ${reason}`,
    ),
  );
  return [
    ...heading,
    ...suggestions.flatMap((suggestion, index) => [
      "",
      ...describe(suggestion, { number: index + 1, policy, print }),
    ]),
    ...(reasons.length === 0 ? [] : ["", "Not suggested:", ...reasons]),
  ];
}

function describe(
  suggestion: RuleSuggestion,
  {
    number,
    policy,
    print,
  }: { readonly number: number; readonly policy: PolicyText; readonly print: Printer },
): readonly string[] {
  const { effect, about, answered, agents, covers, yaml, firstMs, lastMs } = suggestion;
  const [count, never] =
    effect === "allow" ? [answered.approved, "denied"] : [answered.denied, "approved"];
  const besides = [
    ...(answered.unanswered === 0
      ? []
      : [`${many(answered.unanswered, "question")} that nobody answered`]),
    ...(answered.granted === 0
      ? []
      : [`${many(answered.granted, "call")} that an earlier consent answered`]),
    ...(answered.unasked === 0
      ? []
      : [`${many(answered.unasked, "call")} that was not asked about then`]),
  ];
  const width = Math.max(...covers.map(({ argument }) => argument.length));
  return [
    `${number}. ${print.tone(effect === "allow" ? "green" : "red", effect)} ${about}`,
    `   ${effect === "allow" ? "Approved" : "Denied"} ${times(count)} ${span(firstMs, lastMs)}, never ${never}.`,
    ...(besides.length === 0 ? [] : [`   It would also have answered ${besides.join(", ")}.`]),
    `   Asked for by ${agents.map(escapeText).join(", ")}; the rule is for every agent.`,
    `   Without a question it would ${effect === "allow" ? "newly allow" : "deny"}:`,
    ...covers.map(({ argument, what, seen }) =>
      escapeText(
        `     ${argument.padEnd(width)}  ${what}${seen === undefined ? "" : ` (${many(seen, "value")} seen)`}`,
      ),
    ),
    `   ${placeText(suggestion, policy)}:`,
    "",
    ...yaml.trimEnd().split("\n"),
  ];
}

function placeText({ place: { before, line } }: RuleSuggestion, { hasRules }: PolicyText): string {
  if (before !== undefined)
    return `Before rule ${escapeText(before)}${line === undefined ? "" : `, line ${line}`}`;
  return hasRules ? "At the end of the rules" : "As the first rule, under the key rules";
}

const day = (ms: number): string => isoTime(ms).slice(0, 10);
const span = (firstMs: number, lastMs: number): string =>
  day(firstMs) === day(lastMs) ? `on ${day(firstMs)}` : `from ${day(firstMs)} to ${day(lastMs)}`;
const many = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const times = (count: number): string =>
  count === 1 ? "once" : `${count.toLocaleString("en")} times`;
