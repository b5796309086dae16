/** Times as wire messages write them: ISO 8601 in UTC with milliseconds (RFC 3339). */

const ISO =
  /^((?:19[7-9]|[2-9]\d\d)\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * A time as `2026-01-15T10:30:00.000Z`, from milliseconds since 1970.
 *
 * @throws RangeError for a number that is not a time.
 */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Milliseconds since 1970 of an RFC 3339 time from 1970 on; `undefined` for any other text. Digits
 * below a millisecond are dropped.
 */
export function parseIsoTime(text: string): number | undefined {
  const day = ISO.exec(text)?.[1];
  // Date.parse takes February 30 for March 2.
  if (day === undefined || isoTime(Date.parse(day)).slice(0, day.length) !== day) return undefined;
  return Date.parse(text);
}
