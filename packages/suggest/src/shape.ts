/**
 * Shapes: what calls of one sort have in common, whoever makes them: a tool of a server, a method
 * at a host, a program. Pure.
 */
import { isHttpAction, isJsonObject, isToolAction } from "@acp/core";
import type { Action } from "@acp/core";
import { reachKeyOf, showName } from "@acp/core/unstable";
import type { LoggedEvent } from "./logged-call.js";

/** What calls have in common: the tool; the host, port and method; or the program. */
export type CallShape =
  | {
      readonly kind: "tool";
      /** The tool's server. */
      readonly server: string;
      /** The tool's name. */
      readonly tool: string;
    }
  | {
      readonly kind: "http";
      /** Normalized host name or address. */
      readonly host: string;
      /** Port number. */
      readonly port: number;
      /** Request method in capitals. */
      readonly method: string;
    }
  /** `program` is empty where the command is more than plain words. */
  | {
      readonly kind: "shell";
      /** First word of the command. */
      readonly program: string;
    };

/** The shape of an action. */
export function shapeOf(action: Action): CallShape {
  if (isToolAction(action)) return { kind: "tool", server: action.meta.server, tool: action.name };
  if (isHttpAction(action))
    return {
      kind: "http",
      host: action.meta.host,
      port: action.meta.port,
      method: action.meta.method,
    };
  return { kind: "shell", program: action.name };
}

/** One text for one shape. */
export function shapeKey(shape: CallShape): string {
  switch (shape.kind) {
    case "tool":
      return JSON.stringify(["tool", shape.server, shape.tool]);
    case "http":
      return JSON.stringify(["http", shape.host, shape.port, shape.method]);
    case "shell":
      return JSON.stringify(["shell", shape.program]);
    default:
      return shape satisfies never;
  }
}

/** A shape in words. */
export function shapeText(shape: CallShape): string {
  switch (shape.kind) {
    case "tool":
      return `${showName(shape.tool)} on ${showName(shape.server)}`;
    case "http":
      return `${showName(shape.method)} at ${showName(shape.host)} port ${shape.port}`;
    case "shell":
      return shape.program === ""
        ? "commands of more than plain words"
        : `the command ${showName(shape.program)}`;
    default:
      return shape satisfies never;
  }
}

/**
 * A key that all calls share which a rule about one shape could match, in either stance: a rule
 * that denies reads names without case, and cannot tell one command from another by its program.
 */
export function reachOf(shape: CallShape): string {
  switch (shape.kind) {
    case "tool":
      return JSON.stringify(["tool", reachKeyOf(shape.server), reachKeyOf(shape.tool)]);
    case "http":
      return JSON.stringify(["http", shape.host, shape.port]);
    case "shell":
      return "shell";
    default:
      return shape satisfies never;
  }
}

/** {@link reachOf} of a logged call, also of one whose parameters the log does not hold. */
export function reachOfEvent({
  tool,
  metadata: { kind, server, parameters },
}: LoggedEvent): string {
  if (kind === "shell") return reachOf({ kind, program: "" });
  const name = typeof server === "string" ? server : "";
  if (kind !== "http") return reachOf({ kind: "tool", server: name, tool });
  const port = isJsonObject(parameters) ? Number(parameters["port"]) : Number.NaN;
  return reachOf({ kind, host: name, port, method: "" });
}
