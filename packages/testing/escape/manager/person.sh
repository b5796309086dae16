# A person's shell at a terminal: what reaches it from inside leaves a mark. person.sh COMMAND...; MARKS is in the environment.
signals='TERM HUP INT QUIT USR1 USR2 TSTP WINCH'
for name in $signals; do trap "echo shell >>$MARKS/terminal-$(echo $name | tr A-Z a-z)" $name; done
here=$(dirname "$0")
"$@" | bash "$here/partner.sh"
stty -a | grep -q -e '-echo ' -e '-icanon' && echo modes >>"$MARKS/terminal-modes"
python3 -c 'import os, sys
sys.exit(0 if os.tcgetpgrp(0) == os.getpgrp() else 1)' || echo foreground >>"$MARKS/terminal-foreground"
# As an interactive shell does before it shows a prompt.
python3 -c 'import os, signal
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.tcsetpgrp(0, os.getpgrp())'
stty sane
# What was typed for it runs.
while IFS= read -r -t 1 line; do eval "$line"; done
