"""Lets two names take turns until a file is there. turns.py A B STOP"""
import ctypes, os, sys, time

libc = ctypes.CDLL(None, use_errno=True)
a, b, stop = (os.fsencode(each) for each in sys.argv[1:])
end = time.monotonic() + 300
while not os.path.exists(stop) and time.monotonic() < end:
    for _ in range(200):
        libc.renameat2(-100, a, -100, b, 2)
        time.sleep(0.0005)
