/*
 * A process outside that holds a secret wherever a process can: victim MARKER SECRET_FILE. The
 * secret itself comes by standard input, a second copy of it in the environment. Prints one JSON
 * line when it is ready, and lives until its standard input ends.
 */
#include "common.h"
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "places.h"

static void publish(const char *secret, const char *name) {
  size_t length = strlen(secret);
  int shared = shmget(SHARED_MEMORY_KEY, SECRET_MAX, IPC_CREAT | 0600);
  void *memory = shared < 0 ? (void *)-1 : shmat(shared, NULL, 0);
  if (memory != (void *)-1) memcpy(memory, secret, length + 1);
  struct mq_attr size = {.mq_maxmsg = 8, .mq_msgsize = SECRET_MAX};
  mqd_t queue = mq_open(QUEUE_NAME, O_CREAT | O_WRONLY | O_NONBLOCK, 0600, &size);
  for (int i = 0; queue >= 0 && i < 8; i++) mq_send(queue, secret, length, 0);
  long key = syscall(SYS_add_key, "user", name, secret, length, -4 /* the user's keyring */);
  /* Gone on its own where nobody comes to withdraw it. */
  if (key >= 0) syscall(SYS_keyctl, 15 /* time-out */, key, 600);
}

static void withdraw(const char *name) {
  int shared = shmget(SHARED_MEMORY_KEY, SECRET_MAX, 0600);
  if (shared >= 0) shmctl(shared, IPC_RMID, NULL);
  mq_unlink(QUEUE_NAME);
  long key = syscall(SYS_keyctl, 10 /* search */, -4, "user", name, 0);
  if (key >= 0) syscall(SYS_keyctl, 9 /* unlink */, key, -4);
}

int main(int argc, char **argv) {
  static char secret[SECRET_MAX];
  if (argc < 3) return 64;
  /*
   * A change of user makes a process undumpable; what is to be seen is how an ordinary one is
   * protected.
   */
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ssize_t length = read(0, secret, sizeof secret - 1);
  if (length <= 0) return 65;
  int holds = argv[2][0] != 0;
  if (holds) {
    int file = open(argv[2], O_RDONLY);
    if (file >= 0) dup2(file, SECRET_DESCRIPTOR);
    publish(secret, argv[1]);
  }
  printf("{\"pid\":%d,\"address\":\"%p\"}\n", (int)getpid(), (void *)secret);
  fflush(stdout);
  char end;
  while (read(0, &end, 1) > 0) continue;
  if (holds) withdraw(argv[1]);
  return 0;
}
