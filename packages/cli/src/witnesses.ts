/**
 * Witnesses: who keeps signed checkpoints of a home's logs, as config.yml names them. A directory holds a file for each log; a URL takes each checkpoint
 * by POST, as text.
 */
import { join } from "node:path";
import { fileWitness } from "@acp/audit";
import type { Witness } from "@acp/audit";
import type { WitnessConfig } from "@acp/home";

/** Where a directory keeps the checkpoints of a log; several homes may share it. */
export function witnessFile(directory: string, origin: string): string {
  return join(directory, `${origin.replaceAll("/", ".")}.checkpoints`);
}

/** The witnesses of one log. */
export function makeWitnesses(configs: readonly WitnessConfig[], origin: string): readonly Witness[] {
  return configs.map((config) =>
    "directory" in config
      ? fileWitness(witnessFile(config.directory, origin), `directory ${config.directory}`)
      : urlWitness(config.url, `url ${new URL(config.url).origin}`),
  );
}

/** Takes each checkpoint by POST. Redirects are refused: the checkpoint would go to somebody who was not named. */
function urlWitness(url: string, name: string): Witness {
  return {
    name,
    async publish(checkpoint, signal) {
      const headers = { "content-type": "text/plain; charset=utf-8" };
      const request = { method: "POST", headers, body: checkpoint, redirect: "error", signal } as const;
      const response = await fetch(url, request).catch((error: unknown) => {
        throw new Error(failureText(error), { cause: error });
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    },
  };
}

/** `fetch failed` says nothing; its cause does. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
