/** BotApiQueue: the updates of a Bot API double that are not confirmed yet, in order. */
import type { JsonObject, JsonValue } from "@acp/core";

/** The queue. */
export interface UpdateQueue {
  /** Adds an update of a kind: its id, or -1 for a kind that is not asked for. */
  readonly push: (kind: string, value: JsonObject) => number;
  /** An update that was handed out before, put back. */
  readonly putBack: (updateId: number) => JsonObject | undefined;
  /**
   * The updates from an offset on; what is before it is confirmed and forgotten. A negative offset
   * counts from the end.
   */
  readonly take: (offset: number, limit: number) => readonly JsonObject[];
  readonly first: () => readonly [number, JsonObject] | undefined;
  readonly confirm: (updateId: number) => void;
  readonly clear: () => void;
  readonly size: () => number;
  /** Keeps to the kinds that a call's `allowed_updates` names; an empty list names all. */
  readonly allow: (params: JsonObject) => void;
}

/** An empty queue. */
export function createQueue(): UpdateQueue {
  const waiting = new Map<number, JsonObject>();
  const all = new Map<number, JsonObject>();
  let nextId = 871_000;
  let allowed: ReadonlySet<JsonValue> | undefined;

  return {
    push(kind, value) {
      if (allowed !== undefined && !allowed.has(kind)) return -1;
      const id = nextId++;
      const update = { update_id: id, [kind]: value };
      waiting.set(id, update);
      all.set(id, update);
      return id;
    },
    putBack(updateId) {
      const update = all.get(updateId);
      if (update !== undefined) waiting.set(updateId, update);
      return update;
    },
    take(offset, limit) {
      const ids = [...waiting.keys()];
      for (const id of offset < 0 ? ids.slice(0, offset) : ids.filter((each) => each < offset))
        waiting.delete(id);
      return [...waiting.values()].slice(0, limit);
    },
    first: () => [...waiting][0],
    confirm: (updateId) => void waiting.delete(updateId),
    clear: () => waiting.clear(),
    size: () => waiting.size,
    allow({ allowed_updates: kinds }) {
      if (Array.isArray(kinds)) allowed = kinds.length === 0 ? undefined : new Set(kinds);
    },
  };
}
