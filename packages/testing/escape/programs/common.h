/*
 * What the programs of the escape kit share: one JSON line says how an attempt went. refused: the
 * kernel said no; tried: it did not, and a listener knows more; escaped: the program has the proof
 * itself; unavailable: this host lacks what the attempt is made of.
 */
#ifndef ESCAPE_COMMON_H
#define ESCAPE_COMMON_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void print_escaped(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') printf("\\%c", c);
    else if (c < 0x20 || c > 0x7e) putchar('.');
    else putchar(c);
  }
}

static inline void say(const char *outcome, const char *format, ...) {
  char detail[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  printf("{\"outcome\":\"%s\",\"detail\":\"", outcome);
  print_escaped(detail, strlen(detail));
  puts("\"}");
  fflush(stdout);
}

__attribute__((noreturn)) static inline void refused(const char *what) {
  say("refused", "%s: %s", what, strerror(errno));
  exit(0);
}

__attribute__((noreturn)) static inline void unavailable(const char *what) {
  say("unavailable", "%s: %s", what, strerror(errno));
  exit(0);
}

/* A system call's result, or the end of the attempt. */
static inline int must(int result, const char *what) {
  if (result < 0) refused(what);
  return result;
}

struct verb {
  const char *name;
  void (*run)(char **arguments);
};

/* Runs the verb that the first argument names. */
static inline int run_verb(const struct verb *verbs, int argc, char **argv) {
  for (; argc > 1 && verbs->name != NULL; verbs++) {
    if (strcmp(verbs->name, argv[1]) != 0) continue;
    verbs->run(argv + 2);
    return 0;
  }
  fprintf(stderr, "unknown verb\n");
  return 64;
}
#endif
