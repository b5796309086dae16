# The agent: makes the attempts of a run, one after the other. agent.sh FACTS RUN, in the workspace; FACTS is a file of assignments.
KIT_PATH=$PATH
PATH=/usr/bin:/bin
KIT_AGENT=$$
. "$1"
export KIT_PATH PATH KIT_AGENT W MARKS TOKENS BRIDGE REAL_HOME REAL_TMP REAL_RUNTIME SECRET_FILE KIT_OUTSIDE
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=agent GIT_AUTHOR_EMAIL=agent@kit.example GIT_COMMITTER_NAME=agent GIT_COMMITTER_EMAIL=agent@kit.example
# What it sends to its own group must not end it before it is through.
for name in TERM HUP INT QUIT USR1 USR2 TSTP TTOU; do trap '' $name; done
cd "$W" || exit 1
# Opened before an attempt can take it away.
exec 9>>.kit/log
for script in .kit/"$2"-*.sh; do
  [ -e "$script" ] || continue
  ID=${script#.kit/"$2"-???-}
  ID=${ID%.sh}
  D=$W/$ID
  TOKEN=kit-$TOKENS-$ID
  export ID D TOKEN
  mkdir -p "$D" 2>/dev/null
  [ "$2" = place ] || cd "$D" 2>/dev/null || :
  timeout --foreground -k 1 20 sh -c '. "$1/.kit/words.sh"; . "$1/$2"' sh "$W" "$script" >"$W/.kit/said-$2-$ID" 2>&1 9>&-
  cd "$W" || :
done
echo "done $2" >&9
[ "$2" != waiting ] || while [ ! -e "$W/.kit/stop" ]; do sleep 0.1; done
