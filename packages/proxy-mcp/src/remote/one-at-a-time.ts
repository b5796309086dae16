/** One at a time: what would take much memory together happens one after the other. */

/** Who has it, and who waits for it. */
export interface OneAtATime {
  /** Waits until nobody else has it; what it gives gives it back. */
  enter(): Promise<() => void>;
}

/** Nobody has it. */
export function createOneAtATime(): OneAtATime {
  let last: Promise<void> = Promise.resolve();
  return {
    async enter() {
      const before = last;
      let leave: () => void = () => {};
      last = new Promise<void>((resolve) => {
        leave = resolve;
      });
      await before;
      return leave;
    },
  };
}

/** Has a stream of messages wait its turn while a long one is under way in it. */
export function createLongTurn(
  { enter }: OneAtATime,
  bytesMin: number,
): { read(bytes: number): Promise<void> | undefined; isOver(): void; leave(): void } {
  let size = 0;
  let leave: (() => void) | undefined;
  const give = (): void => {
    leave?.();
    leave = undefined;
  };
  return {
    /** So much more of a message is there; what comes next waits for it. */
    read(bytes) {
      size += bytes;
      if (size <= bytesMin) give();
      else if (leave === undefined) return enter().then((given) => void (leave = given));
      return undefined;
    },
    /** The message is over; the turn ends with the first bytes of the next one. */
    isOver: () => void (size = 0),
    leave: give,
  };
}
