/**
 * Param headers: the arguments of a call that a tool's schema wants as HTTP headers too. They are made
 * of the body that is sent, and checked against the body that came, never trusted. Source: MCP
 * 2026-07-28, "Custom Headers from Tool Parameters".
 */
import { encodeHeaderValue, decodeHeaderValue } from "./header-value.js";
import { isRecord } from "./message.js";

/** One argument that goes as a header. */
export interface ParamHeader {
  /** Of the header, in lower case: `mcp-param-region`. */
  readonly header: string;
  /** Keys from the arguments to the value. */
  readonly path: readonly string[];
}

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/u;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
const HEADERS_MAX = 64;
const DEPTH_MAX = 16;
/** Of one value; servers take some kilobytes of headers altogether. */
const VALUE_CHARS_MAX = 4_096;

/** Those of an input schema. A schema that breaks the rules has none. */
export function paramHeadersOf(inputSchema: unknown): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  const isValid = collect(inputSchema, [], found);
  const names = new Set(found.map(({ header }) => header));
  return isValid && names.size === found.length && found.length <= HEADERS_MAX ? found : [];
}

/** Those of each tool of a list's result, by the tool's name. */
export function paramHeadersOfTools(result: unknown): ReadonlyMap<string, readonly ParamHeader[]> {
  const tools = isRecord(result) && Array.isArray(result["tools"]) ? result["tools"] : [];
  return new Map(
    (tools as readonly unknown[]).flatMap((tool) =>
      isRecord(tool) && typeof tool["name"] === "string"
        ? [[tool["name"], paramHeadersOf(tool["inputSchema"])] as const]
        : [],
    ),
  );
}

/** The headers of a call with these arguments. */
export function writeParamHeaders(
  declared: readonly ParamHeader[],
  args: unknown,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    declared.flatMap(({ header, path }) => {
      const text = textAt(args, path);
      return text === undefined ? [] : [[header, encodeHeaderValue(text)] as const];
    }),
  );
}

/** The first header that does not say what the arguments say; `undefined` where all do. */
export function differingParamHeader(
  declared: readonly ParamHeader[],
  args: unknown,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | undefined {
  return declared.find(({ header, path }) => {
    const text = textAt(args, path);
    const given = headers[header];
    if (text === undefined || given === undefined) return text !== given;
    const said = typeof given === "string" ? decodeHeaderValue(given) : undefined;
    return said !== text && !isSameNumber(said, valueAt(args, path));
  })?.header;
}

const isSameNumber = (said: string | undefined, value: unknown): boolean =>
  typeof value === "number" && said !== undefined && said.trim() !== "" && Number(said) === value;

function collect(schema: unknown, path: readonly string[], found: ParamHeader[]): boolean {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  if (!isRecord(properties) || path.length > DEPTH_MAX) return true;
  return Object.entries(properties).every(([key, property]) => {
    if (!isRecord(property)) return true;
    const name = property[KEY];
    if (name === undefined) return collect(property, [...path, key], found);
    if (typeof name !== "string" || !TOKEN.test(name) || !TYPES.has(property["type"])) return false;
    found.push({ header: `mcp-param-${name.toLowerCase()}`, path: [...path, key] });
    return true;
  });
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const key of path)
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

function textAt(args: unknown, path: readonly string[]): string | undefined {
  const value = valueAt(args, path);
  if (typeof value === "string") return value.length <= VALUE_CHARS_MAX ? value : undefined;
  if (typeof value === "boolean" || Number.isSafeInteger(value)) return String(value);
  return undefined;
}
