/**
 * Keeps questions in the directory it is given, for a test that kills it; prints what was
 * acknowledged: id and version.
 */
import { reduce } from "@acp/core";
import { pendingRecord } from "@acp/testing";
import { openPendingFiles } from "../src/pending-directory.js";

const [directory = "", prefix = ""] = process.argv.slice(2);
const store = await openPendingFiles(directory);

async function ask(id: string): Promise<void> {
  const record = pendingRecord({ id });
  await store.put(record);
  process.stdout.write(`${id} 0\n`);
  const delivered = reduce(record, { type: "delivered" });
  if (delivered.ok && (await store.transition(id, 0, delivered.next)))
    process.stdout.write(`${id} 1\n`);
}

for (let round = 0; ; round++)
  await Promise.all(Array.from({ length: 8 }, (_, at) => ask(`cr_${prefix}_${round}_${at}`)));
