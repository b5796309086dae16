# What the manager's output goes to.
for name in TERM HUP INT QUIT USR1 USR2 TSTP WINCH; do trap "echo partner >>$MARKS/terminal-$(echo $name | tr A-Z a-z)" $name; done
while IFS= read -r line || [ $? -gt 128 ]; do printf '%s\n' "$line"; done
