/**
 * The one action that a command line describes: --tool, --http, --shell or --action.
 */
import {
  ConsentError,
  httpAction,
  parseAction,
  parseJson,
  shellAction,
  toolAction,
} from "@acp/core";
import type { Action } from "@acp/core";
import type { Invocation } from "./command.js";
import { onFile } from "./failure.js";
import { inputName, readInput } from "./input.js";

const SOURCES = ["tool", "http", "shell", "action"] as const;
/** Bytes of an Action as JSON: what core takes, and room for white space. */
const ACTION_FILE_BYTES_MAX: number = 2 * 1024 * 1024;

function usage(message: string): ConsentError {
  return new ConsentError("options_invalid", message);
}

/**
 * Makes the action.
 *
 * @throws ConsentError `options_invalid` where none or several are described, else what the
 *   constructors throw.
 */
export async function readActionArgument({
  values,
  io,
}: Pick<Invocation, "values" | "io">): Promise<Action> {
  const given = SOURCES.filter((name) => values[name] !== undefined);
  const [source] = given;
  if (source === undefined || given.length > 1) {
    throw usage(
      `Cannot choose an action to explain: pass one of --tool SERVER.TOOL, --http "METHOD URL", --shell COMMAND or --action FILE, not ${given.length === 0 ? "none" : "several"}`,
    );
  }
  if (values.args !== undefined && source !== "tool")
    throw usage(`Cannot use --args with --${source}: it belongs to --tool`);
  const text = values[source] ?? "";
  switch (source) {
    case "tool":
      return makeToolAction(text, values.args ?? "{}");
    case "http":
      return makeHttpAction(text);
    case "shell":
      return shellAction(text, { cwd: io.cwd });
    case "action": {
      const json = await readInput(text, io, { what: "action", bytesMax: ACTION_FILE_BYTES_MAX });
      return onFile(inputName(text, io), () => parseAction(parseJson(json)));
    }
    default:
      return source satisfies never;
  }
}

function makeToolAction(text: string, argsText: string): Action {
  const dot = text.indexOf(".");
  if (dot < 1 || dot === text.length - 1)
    throw usage(`Cannot read --tool "${text}": write SERVER.TOOL, such as files.write_file`);
  return toolAction(text.slice(0, dot), text.slice(dot + 1), parseJson(argsText));
}

function makeHttpAction(text: string): Action {
  const [method, url, ...more] = text.trim().split(/\s+/);
  if (method === undefined || url === undefined || more.length > 0)
    throw usage(
      `Cannot read --http "${text}": write METHOD and URL in one argument, such as "GET https://example.com/"`,
    );
  return httpAction(method, url);
}
