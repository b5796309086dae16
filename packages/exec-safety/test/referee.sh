# The referee of differential.test.ts: `bash referee.sh LOG INPUT`.
# INPUT holds lines that end in NUL; each runs in a shell of its own. A program that would run is one record in LOG: the number of its line,
# how many words, the words, with \001 for a line end, each ended by NUL. Some fail, so that both sides of && and || are seen.
acp_record() {
  set -- "${@//$'\n'/$'\001'}"
  builtin printf '%s\0' "$acp_line" "$#" "$@" >&"$acp_log"
  acp_runs=$((acp_runs + 1))
  [[ $acp_runs -lt 60 ]] || builtin exit
  return $(($# % 3 == 2))
}
command_not_found_handle() { acp_record "$@"; }
for acp_name in c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 cat ls wc head grep git sort; do
  builtin eval "$acp_name() { acp_record $acp_name \"\$@\"; }"
done
for acp_name in echo printf pwd test true; do
  builtin eval "$acp_name() { acp_record $acp_name \"\$@\"; builtin $acp_name \"\$@\"; }"
done
unset acp_name
exec {acp_log}>>"$1"
exec 3<"$2"
set --
acp_line=0
# Nothing is found: what is not a builtin does not run.
PATH=/nowhere
HOME=/nowhere
while IFS= builtin read -r -d '' acp_text <&3; do
  acp_runs=0
  (
    exec 3<&-
    ulimit -t 1
    builtin eval "$acp_text"
    wait
  ) </dev/null >/dev/null 2>&1
  acp_line=$((acp_line + 1))
done
# Says that every line had its turn.
builtin printf '%s\0' end 0 >&"$acp_log"
