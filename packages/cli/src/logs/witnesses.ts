/**
 * Witnesses: who keeps signed checkpoints of a home's logs, as config.yml names them. A directory
 * holds a file for each log; a URL takes each checkpoint by POST, as text, and may answer a GET
 * with the newest one.
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
export function makeWitnesses(
  configs: readonly WitnessConfig[],
  origin: string,
): readonly Witness[] {
  return configs.map((config) =>
    "directory" in config
      ? fileWitness(witnessFile(config.directory, origin), `directory ${config.directory}`)
      : urlWitness({ url: config.url, origin, name: `url ${new URL(config.url).origin}` }),
  );
}

interface UrlWitness {
  readonly url: string;
  readonly origin: string;
  readonly name: string;
}

const NOTE_BYTES_MAX = 64 * 1024;

/**
 * Takes each checkpoint by POST. Redirects are refused: the checkpoint would go to somebody who was
 * not named.
 */
function urlWitness({ url, origin, name }: UrlWitness): Witness {
  return {
    name,
    /**
     * A server that keeps checkpoints without giving them back answers with another status than
     * 200.
     */
    async newest(signal) {
      const asked = new URL(url);
      asked.searchParams.set("origin", origin);
      const response = await fetch(asked, {
        headers: { accept: "text/plain" },
        redirect: "error",
        signal,
      });
      if (response.status === 200) return readBounded(response);
      await response.body?.cancel();
      return undefined;
    },
    async publish(checkpoint, signal) {
      const headers = { "content-type": "text/plain; charset=utf-8" };
      const request = {
        method: "POST",
        headers,
        body: checkpoint,
        redirect: "error",
        signal,
      } as const;
      const response = await fetch(url, request).catch((error: unknown) => {
        throw new Error(failureText(error), { cause: error });
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    },
  };
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > NOTE_BYTES_MAX) throw new Error(`its answer has more than ${NOTE_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `fetch failed` says nothing; its cause does. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== ""
    ? error.cause.message
    : error.message;
}
