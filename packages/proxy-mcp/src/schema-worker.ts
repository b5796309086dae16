/**
 * Schema worker: the thread in which arguments are checked against schemas that may take long. It
 * has no time limit of its own: who asks ends it. See aside.ts.
 */
import { parentPort } from "node:worker_threads";
import type { JsonObject } from "@acp/core";
import { schemaCompiler } from "./compile-schema.js";
import type { Validate } from "./compile-schema.js";

/** One check. */
export interface WorkerJob {
  /** The schema's number in this worker. */
  readonly id: number;
  /** The schema, the first time. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Arguments of a call. */
  readonly args: JsonObject;
}

/** What came of it. */
export type WorkerTold =
  | { readonly problem: string | undefined; readonly compileMs: number }
  /** Why the schema cannot be used. */
  | { readonly reason: string };

interface Compiled {
  readonly validate: Validate;
  readonly compileMs: number;
}

const schemas = new Map<number, Compiled | string>();

function compile(schema: WorkerJob["schema"]): Compiled | string {
  try {
    const startMs = performance.now();
    const validate = schemaCompiler(schema ?? {})();
    return { validate, compileMs: performance.now() - startMs };
  } catch (error) {
    return error instanceof Error ? error.message : "it does not compile";
  }
}

function check({ id, schema, args }: WorkerJob): WorkerTold {
  const compiled = schemas.get(id) ?? compile(schema);
  schemas.set(id, compiled);
  if (typeof compiled === "string") return { reason: compiled };
  return { problem: compiled.validate(args), compileMs: compiled.compileMs };
}

const tell = (what: WorkerTold | "ready"): void =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(what);

parentPort?.on("message", (job: WorkerJob) => tell(check(job)));
tell("ready");
