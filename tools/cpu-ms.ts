/**
 * CPU time of this process in milliseconds: what a text costs to read, however busy the machine is.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
