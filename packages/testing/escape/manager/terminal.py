"""A terminal with a person's shell in it: says by a mark when that was stopped or killed. terminal.py MARK OUTPUT PROGRAM..."""
import fcntl, os, pty, select, signal, struct, sys, termios

mark, output, program = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, master = pty.fork()
if pid == 0:
    os.execvp(program[0], program)
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))


def leave_mark():
    with open(mark, "a") as file:
        file.write("the person's shell\n")


with open(output, "ab", 0) as file:
    status = None
    while True:
        if select.select([master], [], [], 0.05)[0]:
            try:
                file.write(os.read(master, 65536))
            except OSError:
                if status is not None:
                    break
        elif status is not None:
            break
        if status is None:
            ended, found = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
            if ended == pid and os.WIFSTOPPED(found):
                leave_mark()
                os.kill(-pid, signal.SIGCONT)
            elif ended == pid:
                status = found
if os.WIFSIGNALED(status):
    leave_mark()
sys.exit(0)
