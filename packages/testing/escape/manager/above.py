"""What the processes above the agent, and the first one, let it do. above.py WHAT AGENT OUTSIDE SECRET: OUTSIDE is the kit's own process, to be left alone."""
import ctypes, os, resource, signal, sys

what, agent, outside, secret = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
PTRACE_SEIZE = 0x4206


def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def chain():
    pid = agent
    while True:
        try:
            pid = parent(pid)
        except OSError:
            return
        if pid <= 0 or pid == outside:
            return
        yield pid


def read(path):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(fd, 65536)
    finally:
        os.close(fd)


def attempt(pid):
    if what == "mem":
        os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
        print("KIT-ESCAPED memory of", pid)
    elif what == "trace":
        if ctypes.CDLL(None, use_errno=True).ptrace(PTRACE_SEIZE, pid, 0, 0) == 0:
            print("KIT-ESCAPED traces", pid)
    elif what == "limits":
        for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
            soft, hard = resource.prlimit(pid, which)
            if soft != hard:
                resource.prlimit(pid, which, (hard, hard))
                print("KIT-ESCAPED limits of", pid)
    elif what == "environ":
        print(read(f"/proc/{pid}/environ"))
    elif what == "fds":
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                print(read(f"/proc/{pid}/fd/{fd}"))
            except OSError:
                pass
    elif what == "root":
        print(read(f"/proc/{pid}/root{secret}"))
    elif what in ("stop", "kill"):
        os.kill(pid, signal.SIGSTOP if what == "stop" else signal.SIGKILL)
        print("sent to", pid)


for each in list(chain()):
    try:
        attempt(each)
    except OSError as error:
        print(each, error)
