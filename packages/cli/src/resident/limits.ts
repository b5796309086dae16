/** Limits of a resident: what there is, and what one client may have of it (spec/resident.md §6). */

/** What there is, and what one client may have of it. */
export interface Limits {
  /** Sessions of all clients. */
  readonly sessions: number;
  /** Sessions of one client. */
  readonly sessionsOfOne: number;
  /** Of the sessions of all, so many are for clients that have none yet. */
  readonly sessionsForNew: number;
  /** Sessions of clients that say the same agent, or the same parent: neither is proven. */
  readonly sessionsOfClaim: number;
  /** Sessions that one client may begin; a minute gives as many back. */
  readonly starts: number;
  /** Of these, so many start at the same time; the others wait, and no other client does. */
  readonly startsAtOnce: number;
  /** Open questions of one agent of a client. */
  readonly questions: number;
  /** Tool calls of one agent under way. */
  readonly calls: number;
  /** Bytes of one agent's requests under way. */
  readonly bytes: number;
  /**
   * All agents of one client together have so many times what one may have. None has more than is
   * left for the others.
   */
  readonly agentsFull: number;
  /** Of what one client's gates write into the log, so much is written at the same time. */
  readonly writesAtOnce: number;
  /** The same while another client has calls under way: it waits for what is done together. */
  readonly writesBesideOthers: number;
  /**
   * Bytes that one agent's calls may write into the log, and how many of them a minute gives back;
   * more only while there is room for all.
   */
  readonly logBytes: number;
}

/** As spec/resident.md §6 has them. */
export const LIMITS: Limits = {
  sessions: 64,
  sessionsOfOne: 32,
  sessionsForNew: 16,
  sessionsOfClaim: 56,
  starts: 128,
  startsAtOnce: 4,
  questions: 16,
  calls: 256,
  bytes: 64 * 1024 * 1024,
  agentsFull: 4,
  writesAtOnce: 32,
  writesBesideOthers: 4,
  logBytes: 10 * 1024 * 1024,
};
