// Shifts the wall clock of the process that loads this (LD_PRELOAD), and no other clock. The shift is the whole number of
// nanoseconds, 8 bytes, in the file that ADAPTIVE_H3_CLOCK names. Who changes the file moves the clock at once.
//
// libfaketime does the same and more, but workerd does not start with it: its allocator asks for the time before libfaketime
// is ready, and both wait for ever. So this calls nothing that allocates.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static volatile const int64_t *shift;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("ADAPTIVE_H3_CLOCK");
  int opened = file == NULL ? -1 : open(file, O_RDONLY | O_CLOEXEC);
  if (opened < 0)
    _exit(111);
  void *mapped = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, opened, 0);
  close(opened);
  if (mapped == MAP_FAILED)
    _exit(112);
  shift = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (failed != 0 || shift == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
    return failed;
  int64_t shifted = now->tv_sec * SECOND + now->tv_nsec + *shift;
  now->tv_sec = shifted / SECOND;
  now->tv_nsec = shifted % SECOND;
  return 0;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec at;
  (void)zone;
  int failed = clock_gettime(CLOCK_REALTIME, &at);
  if (failed != 0)
    return failed;
  now->tv_sec = at.tv_sec;
  now->tv_usec = at.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (now != NULL)
    *now = at.tv_sec;
  return at.tv_sec;
}
