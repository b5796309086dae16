/** Times as wire messages write them: ISO 8601 in UTC with milliseconds (RFC 3339). */

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** `2026-01-15T10:30:00.000Z` for milliseconds since 1970. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Milliseconds since 1970 of an RFC 3339 time, or `undefined` where it is none. */
export function parseIsoTime(text: string): number | undefined {
  if (!ISO.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? ms : undefined;
}
