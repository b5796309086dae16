/**
 * Aside: checks of schemas that may take long, in a worker thread that all proxies of a process
 * share. Who asks for much waits for the others in turn; a check that takes too long or too much
 * memory ends the worker, and the next one goes to a new one. Nothing is decided here.
 */
import { Worker } from "node:worker_threads";
import type { JsonObject } from "@acp/core";
import {
  CHECK_MS_MAX,
  COMPILE_MS_MAX,
  TOO_SLOW_MAX,
  WORKER_IDLE_MS,
  WORKER_MEGABYTES_MAX,
  WORKER_SCHEMA_CHARS_MAX,
} from "./limits.js";
import { createRota } from "./rota.js";
import type { WorkerJob, WorkerTold } from "./schema-worker.js";
import { cpuMsSince } from "./watchdog.js";
import { rememberFile, type WorkerFile } from "./worker-file.js";

/** What came of a check. */
export type AsideTold =
  | { readonly problem: string | undefined; readonly compileMs: number }
  /** Why the schema is not to be used. */
  | { readonly reason: string };

/** One proxy's way to the worker. */
export interface Aside {
  /** Checks arguments against a schema. Never rejects. */
  check(schema: JsonObjectLike, args: JsonObject): Promise<AsideTold>;
}

type JsonObjectLike = Readonly<Record<string, unknown>>;

interface Job {
  readonly owner: Owner;
  readonly schema: JsonObjectLike;
  readonly args: JsonObject;
  settle(told: AsideTold): void;
}

interface Owner {
  readonly file: WorkerFile;
  tooSlow: number;
}

interface Running {
  readonly thread: Worker;
  /** Settles when it takes work. */
  readonly isReady: Promise<void>;
  /** Schemas that it has compiled, and the size of all. */
  readonly known: Map<JsonObjectLike, number>;
  knownChars: number;
  /** Takes what is said of the job that runs. */
  onTold: (told: WorkerTold | Lost) => void;
}

interface Lost {
  readonly lost: string;
}

/** So often a limit may pass on a machine that gives this process no time. */
const STARVED_TIMES_MAX = 4;
const NOBODY = (): void => undefined;

const jobs = createRota<Job>();
let running: Running | undefined;
let isBusy = false;
let idle: NodeJS.Timeout | undefined;

/** As it is when this process begins: a worker of another version is never started. */
const OWN_FILE: WorkerFile = rememberFile(
  new URL(import.meta.resolve("@acp/proxy-mcp/schema-worker")),
);
const REPLACED =
  "ACP's files were replaced while it ran, and what checks it was not loaded yet; restart it (acp resident restart)";

/**
 * A way to the worker for one proxy: what is slow there counts for it alone.
 *
 * @param file - In place of the package's own; for tests.
 */
export function createAside(file: WorkerFile = OWN_FILE): Aside {
  const owner: Owner = { file, tooSlow: 0 };
  const put = jobs.owner();
  return {
    check: (schema, args) =>
      new Promise((settle) => {
        put({ owner, schema, args, settle });
        if (!isBusy) void work();
      }),
  };
}

/** One job of each in turn, until nobody waits. */
async function work(): Promise<void> {
  isBusy = true;
  clearTimeout(idle);
  for (let job = jobs.next(); job !== undefined; job = jobs.next()) job.settle(await told(job));
  isBusy = false;
  idle = setTimeout(endWorker, WORKER_IDLE_MS).unref();
}

async function told({ owner, schema, args }: Job): Promise<AsideTold> {
  if (owner.tooSlow >= TOO_SLOW_MAX) return { reason: `${TOO_SLOW_MAX} others took too long` };
  const isStarted = running !== undefined;
  if (!isStarted && owner.file.isReplaced()) return { reason: REPLACED };
  const worker = (running ??= startWorker(owner.file));
  await worker.isReady;
  if (!isStarted && owner.file.isReplaced()) {
    endWorker();
    return { reason: REPLACED };
  }
  const known = worker.known.get(schema);
  const id = known ?? worker.known.size;
  if (known === undefined) {
    worker.known.set(schema, id);
    worker.knownChars += JSON.stringify(schema).length;
  }
  const limitMs = known === undefined ? COMPILE_MS_MAX + CHECK_MS_MAX : CHECK_MS_MAX;
  const answer = await ask(worker, { id, args, ...(known === undefined && { schema }) }, limitMs);
  if (worker.knownChars > WORKER_SCHEMA_CHARS_MAX) endWorker();
  if (!("lost" in answer)) return answer;
  owner.tooSlow++;
  endWorker();
  return { reason: answer.lost };
}

/** Where the process had too little of the processor, the limit begins anew. */
function ask(worker: Running, job: WorkerJob, limitMs: number): Promise<WorkerTold | Lost> {
  return new Promise((resolve) => {
    const before = process.cpuUsage();
    let times = 1;
    const late = (): void => {
      const isStarved = cpuMsSince(before) < limitMs;
      if (isStarved && times++ < STARVED_TIMES_MAX) timer = setTimeout(late, limitMs);
      else worker.onTold({ lost: `checking arguments with it takes more than ${limitMs} ms` });
    };
    let timer = setTimeout(late, limitMs);
    worker.onTold = (said) => {
      clearTimeout(timer);
      worker.onTold = NOBODY;
      resolve(said);
    };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.thread.postMessage(job);
  });
}

/** A thread that has nothing of this process's environment, and little memory. */
function startWorker({ url }: WorkerFile): Running {
  const thread = new Worker(url, {
    argv: [],
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: WORKER_MEGABYTES_MAX, maxYoungGenerationSizeMb: 16 },
  });
  let tellReady = NOBODY;
  const isReady = new Promise<void>((resolve) => {
    tellReady = resolve;
  });
  const worker: Running = { thread, isReady, known: new Map(), knownChars: 0, onTold: NOBODY };
  const lose = (why: string): void => {
    if (running === worker) running = undefined;
    tellReady();
    worker.onTold({ lost: why });
  };
  thread.on("message", (said: WorkerTold | "ready") => {
    if (said !== "ready") return worker.onTold(said);
    // Sooner it has no effect: the thread would keep the process.
    thread.unref();
    tellReady();
  });
  thread.on("error", ({ message }) => lose(`checking it failed: ${message}`));
  thread.on("exit", () => lose("checking it ended the worker"));
  return worker;
}

/** Ends the worker, whose next job goes to a new one. */
export function endWorker(): void {
  void running?.thread.terminate();
  running = undefined;
}
