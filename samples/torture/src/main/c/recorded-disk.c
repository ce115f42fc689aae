/*
 * Records what a process does to the files below one directory, so that Disk can tell what a disk may hold after its
 * power is cut; and lets syncs fail, wait or hang. Loaded with LD_PRELOAD. In the environment:
 *
 *   RECORDED_DISK          the directory; nothing is recorded without it
 *   RECORDED_DISK_JOURNAL  the file to which the records are appended, outside of the directory
 *   RECORDED_DISK_CONTROL  a file that spoils syncs while it exists:
 *                            fail       every sync fails with EIO, and the kernel is not asked
 *                            fail-once  the next sync does, and the file is removed
 *                            delay N    every sync takes N milliseconds longer
 *                            hang       every sync waits until the file is removed, and then goes on
 *                          "at N" after the word: only the N-th sync of the process, counted from 1
 *
 * A record is a line, and what follows it. H is the number of an open file, never used twice by one process.
 *
 *   O H FLAGS PATH     opened; FLAGS has d for a directory, c if this made the file, t if it cut it to nothing
 *   W H OFFSET LENGTH  written; then LENGTH bytes and an end of line
 *   T H SIZE           has this size now
 *   B H N              sync number N of this process begins
 *   E H N ERROR        it has ended; 0 if it succeeded
 *   M PATH  D PATH  U PATH    directory made, directory removed, file removed
 *   R PATH  L PATH     renamed, linked; the next line is the new path
 *
 * A change is recorded after the kernel has made it, so a sync that begins later in the journal covers it. Names change,
 * and files are opened, one at a time, so the journal has them in their order. sendfile and copy_file_range into the
 * directory are refused, and programs then copy by themselves. Not seen: pages of a mapping that are written, symbolic
 * links, duplicated descriptors, files opened with O_SYNC, and what the C library writes by its own streams.
 * Disk#differences tells when that matters.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILES 65536
#define LINE (2 * PATH_MAX + 64)

static char root[PATH_MAX];
static size_t root_length;
static const char *control;
static int journal = -1;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t handles[FILES];
static _Atomic uint64_t last_handle;
static _Atomic uint64_t syncs;

static void die(const char *what) {
  char text[256];
  int length = snprintf(text, sizeof text, "recorded-disk: %s: %s\n", what, strerror(errno));
  syscall(SYS_write, 2, text, (size_t) length);
  abort();
}

static void prepare(void) {
  const char *directory = getenv("RECORDED_DISK");
  const char *file = getenv("RECORDED_DISK_JOURNAL");
  control = getenv("RECORDED_DISK_CONTROL");
  if (directory == NULL || file == NULL) {
    return;
  }
  if (realpath(directory, root) == NULL) {
    die(directory);
  }
  root_length = strlen(root);
  last_handle = (uint64_t) getpid() << 32;
  journal = (int) syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (journal < 0) {
    die(file);
  }
}

static int records(void) {
  pthread_once(&prepared, prepare);
  return journal >= 0;
}

/* One call, so that the records of several threads and processes do not mix. */
static void append(const struct iovec *parts, int count) {
  int error = errno;
  size_t length = 0;
  for (int i = 0; i < count; i++) {
    length += parts[i].iov_len;
  }
  if (syscall(SYS_writev, journal, parts, count) != (long) length) {
    die("the journal cannot be written");
  }
  errno = error;
}

static void tell(const char *format, ...) {
  char line[LINE];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  struct iovec part = {line, (size_t) length};
  append(&part, 1);
}

/* Writes the path without links; returns 0 if it is not in the directory. */
static int inside(int at, const char *path, char *out) {
  char parent[PATH_MAX];
  char joined[2 * PATH_MAX];
  int error = errno;
  int found = 0;
  if (at == AT_FDCWD || path[0] == '/') {
    snprintf(joined, sizeof joined, "%s", path);
  } else {
    snprintf(joined, sizeof joined, "/proc/self/fd/%d/%s", at, path);
  }
  char *name = strrchr(joined, '/');
  if (realpath(joined, out) != NULL && strcmp(out, root) == 0) {
    found = 1;
  } else if (name != NULL && name[1] != 0) {
    *name++ = 0;
    if (realpath(joined[0] == 0 ? "/" : joined, parent) != NULL && strncmp(parent, root, root_length) == 0
        && (parent[root_length] == '/' || parent[root_length] == 0)
        && strlen(parent) + strlen(name) + 2 < PATH_MAX) {
      size_t length = strlen(parent);
      memcpy(out, parent, length);
      out[length] = '/';
      strcpy(out + length + 1, name);
      found = 1;
    }
  }
  errno = error;
  return found;
}

static uint64_t handle(int file) {
  return file >= 0 && file < FILES ? handles[file] : 0;
}

static int open_any(int at, const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  if (!records() || !inside(at, path, full)) {
    int file = (int) syscall(SYS_openat, at, path, flags, mode);
    if (file >= 0 && file < FILES) {
      handles[file] = 0;
    }
    return file;
  }
  pthread_mutex_lock(&names);
  struct stat status;
  int error = errno;
  int there = fstatat(AT_FDCWD, full, &status, 0) == 0;
  errno = error;
  int file = (int) syscall(SYS_openat, at, path, flags, mode);
  if (file >= FILES) {
    die("too many open files");
  }
  if (file >= 0) {
    uint64_t number = ++last_handle;
    handles[file] = number;
    tell("O %lu -%s%s%s %s\n", number, there && S_ISDIR(status.st_mode) ? "d" : "", there ? "" : "c",
        there && flags & O_TRUNC ? "t" : "", full);
  }
  pthread_mutex_unlock(&names);
  return file;
}

#define OPEN(at)                                                                                                       \
  va_list more;                                                                                                        \
  va_start(more, flags);                                                                                               \
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                                            \
  va_end(more);                                                                                                        \
  return open_any(at, path, flags, mode)

int open(const char *path, int flags, ...) { OPEN(AT_FDCWD); }
int open64(const char *path, int flags, ...) { OPEN(AT_FDCWD); }
int openat(int at, const char *path, int flags, ...) { OPEN(at); }
int openat64(int at, const char *path, int flags, ...) { OPEN(at); }
int __open_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode) { return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int file) {
  if (file >= 0 && file < FILES) {
    handles[file] = 0;
  }
  return (int) syscall(SYS_close, file);
}

/* The C library closes the file of a directory by itself. */
int closedir(DIR *directory) {
  int (*next)(DIR *) = (int (*)(DIR *)) dlsym(RTLD_NEXT, "closedir");
  int file = dirfd(directory);
  if (file >= 0 && file < FILES) {
    handles[file] = 0;
  }
  return next(directory);
}

/* At an offset of -1 the position of the file says where it ended. */
static ssize_t written(int file, ssize_t done, off64_t offset, const struct iovec *from, int count) {
  uint64_t number = handle(file);
  if (number == 0 || done <= 0) {
    return done;
  }
  if (offset < 0) {
    offset = syscall(SYS_lseek, file, 0, SEEK_CUR) - done;
    if (offset < 0) {
      die("something else has the number of a file that was closed unseen");
    }
  }
  char line[96];
  int length = snprintf(line, sizeof line, "W %lu %ld %zd\n", number, (long) offset, done);
  struct iovec parts[count + 2];
  parts[0] = (struct iovec) {line, (size_t) length};
  int used = 1;
  size_t left = (size_t) done;
  for (int i = 0; i < count && left > 0; i++) {
    parts[used] = from[i];
    if (parts[used].iov_len > left) {
      parts[used].iov_len = left;
    }
    left -= parts[used++].iov_len;
  }
  parts[used++] = (struct iovec) {"\n", 1};
  append(parts, used);
  return done;
}

ssize_t write(int file, const void *bytes, size_t length) {
  struct iovec from = {(void *) bytes, length};
  return written(file, syscall(SYS_write, file, bytes, length), -1, &from, 1);
}

ssize_t writev(int file, const struct iovec *from, int count) {
  return written(file, syscall(SYS_writev, file, from, count), -1, from, count);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
  struct iovec from = {(void *) bytes, length};
  return written(file, syscall(SYS_pwrite64, file, bytes, length, offset), offset, &from, 1);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
  return pwrite64(file, bytes, length, offset);
}

ssize_t pwritev64(int file, const struct iovec *from, int count, off64_t offset) {
  return written(file, syscall(SYS_pwritev, file, from, count, offset, 0), offset, from, count);
}

ssize_t pwritev(int file, const struct iovec *from, int count, off_t offset) {
  return pwritev64(file, from, count, offset);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t length) {
  if (handle(to) != 0) {
    errno = EINVAL;
    return -1;
  }
  return syscall(SYS_sendfile, to, from, offset, length);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t length) { return sendfile64(to, from, offset, length); }

ssize_t copy_file_range(int from, off64_t *begin, int to, off64_t *offset, size_t length, unsigned flags) {
  if (handle(to) != 0) {
    errno = EINVAL;
    return -1;
  }
  return syscall(SYS_copy_file_range, from, begin, to, offset, length, flags);
}

static int sized(int file, long result) {
  uint64_t number = handle(file);
  struct stat status;
  if (result == 0 && number != 0 && fstat(file, &status) == 0) {
    tell("T %lu %ld\n", number, (long) status.st_size);
  }
  return (int) result;
}

int ftruncate64(int file, off64_t size) { return sized(file, syscall(SYS_ftruncate, file, size)); }
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

int fallocate64(int file, int mode, off64_t offset, off64_t length) {
  return sized(file, syscall(SYS_fallocate, file, mode, offset, length));
}

int fallocate(int file, int mode, off_t offset, off_t length) { return fallocate64(file, mode, offset, length); }

int posix_fallocate64(int file, off64_t offset, off64_t length) {
  int error = errno;
  int result = fallocate64(file, 0, offset, length) == 0 ? 0 : errno;
  errno = error;
  return result;
}

int posix_fallocate(int file, off_t offset, off_t length) { return posix_fallocate64(file, offset, length); }

/* What the control file asks for; 0 if it asks for nothing. */
static int read_control(char *word, unsigned long *millis) {
  char text[128];
  unsigned long only = 0;
  int file = (int) syscall(SYS_openat, AT_FDCWD, control, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    return 0;
  }
  ssize_t length = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  text[length < 0 ? 0 : length] = 0;
  if (sscanf(text, "%15s", word) != 1) {
    return 0;
  }
  if (strcmp(word, "delay") == 0) {
    sscanf(text, "delay %lu", millis);
  }
  const char *at = strstr(text, " at ");
  if (at != NULL) {
    sscanf(at, " at %lu", &only);
  }
  return only == 0 ? 1 : (int) only;
}

static void sleep_millis(unsigned long millis) {
  struct timespec time = {(time_t) (millis / 1000), (long) (millis % 1000) * 1000000};
  while (syscall(SYS_nanosleep, &time, &time) != 0 && errno == EINTR) {
  }
}

/* Waits as long as the control file says; returns whether the sync has to fail. */
static int spoiled(uint64_t number) {
  char word[16] = "";
  unsigned long millis = 0;
  int asked = control == NULL ? 0 : read_control(word, &millis);
  if (asked == 0 || (asked > 1 && (uint64_t) asked != number)) {
    return 0;
  }
  if (strcmp(word, "fail") == 0) {
    return 1;
  }
  if (strcmp(word, "fail-once") == 0) {
    return syscall(SYS_unlinkat, AT_FDCWD, control, 0) == 0;
  }
  if (strcmp(word, "delay") == 0) {
    sleep_millis(millis);
  }
  while (strcmp(word, "hang") == 0) {
    sleep_millis(10);
    if (read_control(word, &millis) == 0) {
      break;
    }
  }
  return 0;
}

static int sync_any(int file, long call) {
  uint64_t number = handle(file);
  if (number == 0) {
    return (int) syscall(call, file);
  }
  uint64_t sync = ++syncs;
  tell("B %lu %lu\n", number, sync);
  int failed = spoiled(sync);
  int result = failed ? -1 : (int) syscall(call, file);
  int error = failed ? EIO : errno;
  tell("E %lu %lu %d\n", number, sync, result == 0 ? 0 : error);
  errno = error;
  return result;
}

int fsync(int file) { return sync_any(file, SYS_fsync); }
int fdatasync(int file) { return sync_any(file, SYS_fdatasync); }

/* Makes a change of names and records it as one. */
#define CHANGE(call, kind, at, path)                                                                                   \
  char full[PATH_MAX];                                                                                                 \
  if (!records() || !inside(at, path, full)) {                                                                         \
    return (int) (call);                                                                                               \
  }                                                                                                                    \
  pthread_mutex_lock(&names);                                                                                          \
  int result = (int) (call);                                                                                           \
  if (result == 0) {                                                                                                   \
    tell(kind " %s\n", full);                                                                                          \
  }                                                                                                                    \
  pthread_mutex_unlock(&names);                                                                                        \
  return result

int mkdirat(int at, const char *path, mode_t mode) { CHANGE(syscall(SYS_mkdirat, at, path, mode), "M", at, path); }
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int rmdir(const char *path) { CHANGE(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR), "D", AT_FDCWD, path); }

int unlinkat(int at, const char *path, int flags) {
  if (flags & AT_REMOVEDIR) {
    CHANGE(syscall(SYS_unlinkat, at, path, flags), "D", at, path);
  }
  CHANGE(syscall(SYS_unlinkat, at, path, flags), "U", at, path);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int remove(const char *path) {
  int error = errno;
  int result = unlink(path);
  if (result != 0 && (errno == EISDIR || errno == EPERM)) {
    errno = error;
    result = rmdir(path);
  }
  return result;
}

static int two_names(long call, const char *kind, int from_at, const char *from, int to_at, const char *to, int flags) {
  char source[PATH_MAX];
  char target[PATH_MAX];
  int watched = records();
  int leaves = watched && inside(from_at, from, source);
  int enters = watched && inside(to_at, to, target);
  if (leaves != enters) {
    errno = EXDEV; /* as if the directory had a disk of its own */
    return -1;
  }
  if (!leaves) {
    return (int) syscall(call, from_at, from, to_at, to, flags);
  }
  pthread_mutex_lock(&names);
  int result = (int) syscall(call, from_at, from, to_at, to, flags);
  if (result == 0) {
    tell("%s %s\n%s\n", kind, source, target);
  }
  pthread_mutex_unlock(&names);
  return result;
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
  return two_names(SYS_renameat2, "R", from_at, from, to_at, to, 0);
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
  return two_names(SYS_linkat, "L", from_at, from, to_at, to, flags);
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
