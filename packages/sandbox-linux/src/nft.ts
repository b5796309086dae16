/**
 * nft: loads, lists and deletes an agent's table. What it loads: nft-rules.ts; nothing else of the
 * machine's rules is touched.
 */
import { ConsentError } from "@acp/core";
import { parseTableName } from "./nft-rules.js";
import { requireTool, runTool } from "./tools.js";

const LISTING_BYTES_MAX = 4 * 1024 * 1024;
const NFT_TIMEOUT_MS = 30_000;

/**
 * Loads rules, all or none of them.
 *
 * @throws ConsentError `sandbox_failed` with nft's own words.
 */
export async function loadRules(rules: string): Promise<void> {
  const { code, stderr } = await nft(["-f", "-"], rules);
  if (code !== 0) throw failed("load the rules of an agent", stderr);
}

/**
 * What identifies the rules of a table that were loaded: every change, also by what looks the same,
 * gives another text. `undefined` where there is no such table.
 *
 * @throws ConsentError `sandbox_failed` where nft cannot say.
 */
export async function listTable(table: string): Promise<string | undefined> {
  const { code, stdout, stderr } = await nft([
    "--stateless",
    "--handle",
    "--numeric",
    "list",
    "table",
    "inet",
    table,
  ]);
  // nft looks for a cgroup's path by its number, and may find another hierarchy's file with the
  // same one.
  if (code === 0) return stdout.replace(/(cgroupv2 level \d+) "[^"]*"/gu, "$1");
  if (/No such file or directory/u.test(stderr)) return undefined;
  throw failed("list the rules of an agent", stderr);
}

/**
 * Deletes a table; one that is not there is fine.
 *
 * @throws ConsentError `sandbox_failed` with nft's own words.
 */
export async function deleteTable(table: string): Promise<void> {
  if (parseTableName(table) === undefined)
    throw failed("delete a table", "not a table of this program");
  const { code, stderr } = await nft(
    ["-f", "-"],
    `table inet ${table}\ndelete table inet ${table}\n`,
  );
  if (code !== 0) throw failed("delete the rules of an agent", stderr);
}

interface NftResult {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

async function nft(args: readonly string[], input = ""): Promise<NftResult> {
  const options = { input, timeoutMs: NFT_TIMEOUT_MS, outputBytesMax: LISTING_BYTES_MAX };
  const {
    code,
    stdout,
    stderr,
    failure = "failed",
  } = await runTool([requireTool("nft"), ...args], options);
  return { code: code ?? failure, stdout, stderr: stderr === "" && code !== 0 ? failure : stderr };
}

function failed(what: string, why: string): ConsentError {
  const line = why.split("\n").find((each) => each.trim() !== "") ?? "no reason given";
  return new ConsentError("sandbox_failed", `Cannot ${what}: nft: ${line.trim().slice(0, 300)}`);
}
