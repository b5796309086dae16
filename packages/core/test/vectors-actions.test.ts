import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  actionDigest,
  actionToJson,
  httpAction,
  isAction,
  isConsentError,
  parametersOf,
  parseAction,
  shellAction,
  toolAction,
  withParameters,
} from "../src/index.js";
import type { Action, FlatAction, JsonObject } from "../src/index.js";

interface Normal {
  readonly action: JsonObject;
  readonly digest: string;
  readonly flat?: FlatAction;
}

interface Case {
  readonly name: string;
  readonly make?: readonly [kind: "tool" | "http" | "shell", ...rest: readonly never[]];
  readonly parse?: unknown;
  readonly want: Normal | { readonly error: string };
}

const { cases } = JSON.parse(
  readFileSync(new URL("../../../spec/vectors/actions.json", import.meta.url), "utf8"),
) as {
  readonly cases: readonly Case[];
};

const constructors = { tool: toolAction, http: httpAction, shell: shellAction } as Record<
  string,
  (...rest: readonly never[]) => Action
>;

function read({ make, parse }: Case): Action {
  if (make === undefined) return parseAction(parse);
  const [kind, ...rest] = make;
  const construct = constructors[kind];
  if (construct === undefined) throw new Error(`no constructor for ${kind}`);
  return construct(...rest);
}

const isRefused = (row: Case): boolean => "error" in row.want;
const accepted = cases
  .filter((row) => !isRefused(row))
  .map((row) => ({ ...row, want: row.want as Normal }));

describe("spec/vectors/actions.json", () => {
  it.each(accepted)("the constructors and parseAction() make $name", (row) => {
    const action = read(row);
    expect(isAction(action)).toBe(true);
    expect(actionToJson(action)).toEqual(row.want.action);
    expect(actionDigest(action)).toBe(row.want.digest);
  });

  it.each(accepted.filter(({ want }) => want.flat !== undefined))(
    "parametersOf() flattens $name",
    (row) => {
      expect(parametersOf(read(row))).toEqual(row.want.flat);
    },
  );

  it.each(accepted)(
    "parseAction() and withParameters() give the same digest back: $name",
    (row) => {
      const action = read(row);
      expect(actionDigest(parseAction(JSON.parse(JSON.stringify(actionToJson(action)))))).toBe(
        row.want.digest,
      );
      expect(
        actionDigest(
          withParameters(action, JSON.parse(JSON.stringify(parametersOf(action).parameters))),
        ),
      ).toBe(row.want.digest);
    },
  );

  it.each(cases.filter(isRefused))("the constructors and parseAction() refuse $name", (row) => {
    let got: unknown;
    try {
      got = read(row);
    } catch (error) {
      got = isConsentError(error) ? { error: error.code } : error;
    }
    expect(got).toEqual(row.want);
  });
});
