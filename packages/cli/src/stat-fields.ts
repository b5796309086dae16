/**
 * Stat fields: what a line of /proc/PID/stat says of a process, from its state on. Its name before
 * that, in brackets, may hold anything. Source: proc_pid_stat(5).
 */
export function statFields(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
