/*
 * proc: how processes are found and read in /proc, and sets of their numbers. What is gone by then
 * is not there.
 */
#ifndef ACP_PROC_H
#define ACP_PROC_H

#include "common.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>

enum { PIDS_MAX = 1 << 22 };

static int has(const unsigned char *set, int pid) { return pid < PIDS_MAX && (set[pid / 8] >> (pid % 8) & 1) != 0; }
static void add(unsigned char *set, int pid) { if (pid < PIDS_MAX) set[pid / 8] |= (unsigned char)(1 << (pid % 8)); }

/* The next entry of a folder of /proc that is a number; 0 at its end. */
static int next_number(DIR *folder) {
  for (struct dirent *each; (each = readdir(folder)) != NULL;)
    if (isdigit((unsigned char)each->d_name[0])) return atoi(each->d_name);
  return 0;
}

static DIR *open_proc(int pid, const char *below) {
  char path[64];
  if (pid == 0) snprintf(path, sizeof path, "/proc");
  else snprintf(path, sizeof path, "/proc/%d/%s", pid, below);
  DIR *folder = opendir(path);
  if (folder == NULL && (pid == 0 || (errno != ENOENT && errno != ESRCH))) fail("open", path);
  return folder;
}

/* A file of /proc as text; empty where its process is gone. */
static void read_proc(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);
  text[got > 0 ? got : 0] = '\0';
  if (fd >= 0) close(fd);
  else if (errno != ENOENT && errno != ESRCH) fail("open", path);
}

/* Whether a signal waits for a process. */
static int is_pending(int pid, int signal) {
  char path[64], text[4096];
  unsigned long long pending = 0;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  read_proc(path, text, sizeof text);
  char *line = strstr(text, "\nShdPnd:");
  if (line != NULL) sscanf(line, "\nShdPnd: %llx", &pending);
  return (pending >> (signal - 1) & 1) != 0;
}

/* Its state and its parent, past a name that may hold anything; 'X' where it is gone. */
static char state_of(const char *path, int *parent) {
  char text[1024], state = 'X';
  read_proc(path, text, sizeof text);
  char *end = strrchr(text, ')');
  if (end != NULL) sscanf(end + 1, " %c %d", &state, parent);
  return state;
}

#endif
