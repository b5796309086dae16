/**
 * State: what is known at one point of a shell: where it can be, what its variables can hold, and
 * what its standard input carries.
 */
import type { ArgumentValue } from "./argument.js";
import type { RunPlace } from "../config/run-place.js";
import type { Variables } from "./argument.js";
import { canSet } from "./variables.js";

/** What is known before one command. */
export interface State {
  /** Every directory that it can run in; at least one. */
  readonly places: readonly RunPlace[];
  readonly variables: Variables;
  /** What each line of its input can be, where that is known: names of the project's files. */
  readonly input: readonly ArgumentValue[] | undefined;
  /** Whether its input comes from a pipe or a file. */
  readonly isFed: boolean;
  readonly output: Output;
}

/** Where its output goes. */
export interface Output {
  /** Whether anybody sees what it prints: not behind `| wc -l` and `> /dev/null`. */
  readonly isShown: boolean;
  /** Whether that is seen only without the tokens of addresses. */
  readonly hidesAddresses: boolean;
  /** Whether it goes into a pipe or a file, never to a terminal that may be there. */
  readonly isCaught: boolean;
}

/**
 * What is known behind a command: where it succeeded, and where it failed. `undefined`: it never
 * gets there.
 */
export interface Outcome {
  readonly ok: State | undefined;
  readonly failed: State | undefined;
}

/** Directories and values that are followed at once; beyond it, they count as not known. */
const PLACES_MAX = 4;
const VALUES_MAX = 32;

/** Succeeds or fails without changing anything. */
export const either = (state: State): Outcome => ({ ok: state, failed: state });

/** What is known behind a command, however it ended. */
export function after({ ok, failed }: Outcome): State | undefined {
  return join(ok, failed);
}

/** What is known where two ways meet. */
export function join(one: State | undefined, other: State | undefined): State | undefined {
  if (one === other || other === undefined) return one;
  if (one === undefined) return other;
  return {
    places: joinPlaces(one.places, other.places),
    variables: joinVariables(one.variables, other.variables),
    input: one.input === other.input ? one.input : undefined,
    isFed: one.isFed && other.isFed,
    output: joinOutputs(one.output, other.output),
  };
}

function joinOutputs(one: Output, other: Output): Output {
  if (one === other) return one;
  return {
    isShown: one.isShown || other.isShown,
    hidesAddresses: one.hidesAddresses && other.hidesAddresses,
    isCaught: one.isCaught && other.isCaught,
  };
}

/** The places, each once; one that is not known where they are too many. */
export function joinPlaces(
  one: readonly RunPlace[],
  other: readonly RunPlace[],
): readonly RunPlace[] {
  if (one === other) return one;
  const places = [...one];
  for (const place of other)
    if (!places.some(({ inside }) => inside === place.inside)) places.push(place);
  const [first] = places;
  return places.length <= PLACES_MAX || first === undefined
    ? places
    : [{ ...first, inside: undefined }];
}

/** What the variables hold where two ways meet. */
export function joinVariables(one: Variables, other: Variables): Variables {
  if (one === other) return one;
  const joined = new Map<string, readonly ArgumentValue[] | undefined>();
  for (const [name, values] of one)
    joined.set(name, other.has(name) ? joinValues(values, other.get(name)) : undefined);
  for (const name of other.keys()) if (!one.has(name)) joined.set(name, undefined);
  // Unlike the others, this one is there only where it is known.
  if (!one.has("PWD") || !other.has("PWD")) joined.delete("PWD");
  return joined;
}

function joinValues(
  one: readonly ArgumentValue[] | undefined,
  other: readonly ArgumentValue[] | undefined,
): readonly ArgumentValue[] | undefined {
  if (one === other || one === undefined || other === undefined)
    return one === other ? one : undefined;
  return one.length + other.length > VALUES_MAX ? undefined : [...one, ...other];
}

/** The state with one variable set. */
export function withVariable(
  state: State,
  name: string,
  values: readonly ArgumentValue[] | undefined,
): State {
  return { ...state, variables: new Map(state.variables).set(name, values) };
}

/** The state in other places. */
export function withPlaces(state: State, places: readonly RunPlace[]): State {
  const variables = new Map(state.variables);
  if (
    places.every(
      ({ inside, projectRoot }) =>
        inside !== undefined && isPlainFolder(`${projectRoot ?? ""}/${inside}`),
    )
  )
    variables.set("PWD", HERE);
  else variables.delete("PWD");
  return { ...state, places, variables };
}

const HERE: readonly ArgumentValue[] = [{ text: ".", isGlob: false }];

/** Whether an unquoted `$PWD` stays one word. */
const isPlainFolder = (path: string): boolean => !/[\s*?[\\]/.test(path);

/** The state with another input. */
export function withInput(state: State, input: State["input"], isFed: boolean = true): State {
  return state.input === input && state.isFed === isFed ? state : { ...state, input, isFed };
}

/** The state of something whose output goes elsewhere. */
export function withOutput(state: State, output: Output): State {
  return state.output === output ? state : { ...state, output };
}

const SHOWN: Output = { isShown: true, hidesAddresses: false, isCaught: false };
/** The output of a substitution: a part of a word, which may be shown. */
export const CAUGHT: Output = { ...SHOWN, isCaught: true };

/** What is known behind a command that had an input or an output of its own. */
export function withInputOf(state: State, { ok, failed }: Outcome): Outcome {
  const back = (behind: State | undefined): State | undefined =>
    behind === undefined
      ? undefined
      : withOutput(withInput(behind, state.input, state.isFed), state.output);
  return { ok: back(ok), failed: back(failed) };
}

const UNSET: readonly ArgumentValue[] = [{ text: "", isGlob: false }];

/**
 * The state in which a command line starts. A variable that the line itself sets somewhere is empty
 * before: what runs the line gives it no variables of such names.
 */
export function startAt(place: RunPlace, names: ReadonlySet<string> = NONE): State {
  const variables = new Map<string, readonly ArgumentValue[]>();
  for (const name of names) if (canSet(name)) variables.set(name, UNSET);
  return withPlaces({ places: [], variables, input: undefined, isFed: false, output: SHOWN }, [
    place,
  ]);
}

const NONE: ReadonlySet<string> = new Set();
