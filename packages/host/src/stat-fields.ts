/**
 * Stat fields: what Linux says of a process in /proc.
 */

/**
 * The fields of a line of /proc/PID/stat from the state on, which is field 3 of proc_pid_stat(5). The
 * name before that, in parentheses, is the process's own and may hold anything, parentheses and
 * blanks too.
 */
export function statFields(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
