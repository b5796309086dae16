/** Outgoing: what a session was given and has not sent yet. Too much of it holds up who gives more. */

/** What waits to be sent. */
export interface Outgoing {
  /** So many bytes more; what it gives says, once or more often, that they wait no longer. */
  enter(bytes: number): () => void;
  /** Resolves when there is room again; `undefined` while there is. */
  room(): Promise<void> | undefined;
}

/** What a message takes beside its bytes. */
const MESSAGE_BYTES = 1_024;

/** Nothing waits. @param bytesMax - One message more than that may wait. */
export function createOutgoing(bytesMax: number): Outgoing {
  let bytes = 0;
  const waiting: (() => void)[] = [];
  return {
    enter(size) {
      let own = size + MESSAGE_BYTES;
      bytes += own;
      return () => {
        bytes -= own;
        own = 0;
        if (bytes <= bytesMax) for (const wake of waiting.splice(0)) wake();
      };
    },
    room() {
      return bytes <= bytesMax ? undefined : new Promise((resolve) => waiting.push(resolve));
    },
  };
}
