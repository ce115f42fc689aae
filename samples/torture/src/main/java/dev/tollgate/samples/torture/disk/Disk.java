package dev.tollgate.samples.torture.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One directory as the process sees it, and what of it a disk holds for certain. After a cut it has
 * what was synced, and some of the rest:
 *
 * <ul>
 *   <li>The content of a file is there as far as a sync of that file covers it. Of what was written
 *       later each sector of 512 bytes is there in some version since.
 *   <li>A name is there if its directory was synced. A sync of the file alone does not keep its
 *       name. A rename happens as a whole or not at all, and is kept by a sync of the directory
 *       that gains the name.
 *   <li>Contents and names are independent of each other. Two names are, unless one change had
 *       both.
 *   <li>What was in a sync that failed may be lost, though a later sync succeeds.
 * </ul>
 *
 * <p>Owners and rights are not kept: all belongs to the user of the process, and to no other. Not
 * thread-safe.
 */
final class Disk {
  static final FileAttribute<?> OWN_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final FileAttribute<?> OWN_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** A file or a directory. */
  sealed interface Entry permits StoredFile, Directory {}

  /** Names in a directory. */
  static final class Directory implements Entry {
    private final Map<String, Entry> now = new TreeMap<>();
    private final Map<String, Entry> synced = new TreeMap<>();
  }

  private record Place(Directory directory, String name) {}

  /**
   * A change of names that no sync covers.
   *
   * @param lost the name that is gone, or null
   * @param gained the name that the entry has now, or null
   */
  private record Renaming(long time, @Nullable Place lost, @Nullable Place gained, Entry entry) {
    boolean isKeptBy(Directory directory) {
      return Objects.requireNonNull(gained == null ? lost : gained).directory() == directory;
    }

    boolean has(Set<Place> places) {
      return places.contains(lost) || places.contains(gained);
    }

    void apply() {
      if (lost != null) {
        lost.directory().synced.remove(lost.name(), entry);
      }
      if (gained != null) {
        gained.directory().synced.put(gained.name(), entry);
      }
    }
  }

  private Directory root = new Directory();
  private final List<Renaming> renamings = new ArrayList<>();
  private final Map<Long, Entry> handles = new HashMap<>();
  private final Map<String, Long> syncs = new HashMap<>();
  private long time;

  /** A disk that holds what is in this directory. */
  static Disk of(Path directory) throws IOException {
    Disk disk = new Disk();
    disk.root = read(directory);
    return disk;
  }

  private static Directory read(Path path) throws IOException {
    Directory directory = new Directory();
    try (Stream<Path> files = Files.list(path)) {
      for (Path file : files.toList()) {
        Entry entry =
            Files.isDirectory(file) ? read(file) : StoredFile.onDisk(Files.readAllBytes(file));
        String name = file.getFileName().toString();
        directory.now.put(name, entry);
        directory.synced.put(name, entry);
      }
    }
    return directory;
  }

  /**
   * Records that a file was opened.
   *
   * @param handle stands for it from now on
   * @param path in the directory; empty for the directory itself
   * @param created whether this made the file
   */
  void opened(long handle, Path path, boolean created) {
    time++;
    if (created) {
      StoredFile file = new StoredFile();
      appears(path, file);
      handles.put(handle, file);
    } else {
      handles.put(handle, entry(path));
    }
  }

  void made(Path path) {
    time++;
    appears(path, new Directory());
  }

  void linked(Path from, Path to) {
    time++;
    appears(to, entry(from));
  }

  private void appears(Path path, Entry entry) {
    Place place = place(path);
    place.directory().now.put(place.name(), entry);
    renamings.add(new Renaming(time, null, place, entry));
  }

  void removed(Path path) {
    time++;
    Place place = place(path);
    Entry entry = known(place.directory().now.remove(place.name()), path);
    renamings.add(new Renaming(time, place, null, entry));
  }

  void renamed(Path from, Path to) {
    time++;
    Place lost = place(from);
    Place gained = place(to);
    Entry entry = known(lost.directory().now.remove(lost.name()), from);
    gained.directory().now.put(gained.name(), entry);
    renamings.add(new Renaming(time, lost, gained, entry));
  }

  void wrote(long handle, long offset, byte[] bytes) {
    file(handle).write(++time, offset, bytes);
  }

  void resized(long handle, long size) {
    file(handle).resize(++time, size);
  }

  /** Records that a sync begins; it covers what has been recorded so far. */
  void syncBegins(long handle, long sync) {
    syncs.put(handle + " " + sync, time);
  }

  void syncEnded(long handle, long sync, boolean succeeded) {
    time++;
    long began = known(syncs.remove(handle + " " + sync), "sync " + sync);
    Entry entry = known(handles.get(handle), "handle " + handle);
    if (entry instanceof Directory directory) {
      if (succeeded) {
        apply(renamings.stream().filter(one -> one.time() <= began && one.isKeptBy(directory)));
      }
    } else if (succeeded) {
      ((StoredFile) entry).syncSucceeded(began);
    } else {
      ((StoredFile) entry).syncFailed(began);
    }
  }

  /** Puts these changes on the disk, and all earlier ones of the same names. */
  private void apply(Stream<Renaming> chosen) {
    Set<Renaming> applied = new HashSet<>(chosen.toList());
    Set<Place> places = new HashSet<>();
    for (int i = renamings.size() - 1; i >= 0; i--) {
      Renaming renaming = renamings.get(i);
      if (applied.contains(renaming) || renaming.has(places)) {
        applied.add(renaming);
        places.add(renaming.lost());
        places.add(renaming.gained());
        places.remove(null);
      }
    }
    for (Renaming renaming : renamings) {
      if (applied.contains(renaming)) {
        renaming.apply();
      }
    }
    renamings.removeAll(applied);
  }

  private StoredFile file(long handle) {
    return (StoredFile) known(handles.get(handle), "handle " + handle);
  }

  private Entry entry(Path path) {
    if (path.toString().isEmpty()) {
      return root;
    }
    Place place = place(path);
    return known(place.directory().now.get(place.name()), path);
  }

  private Place place(Path path) {
    Directory directory = root;
    for (int i = 0; i < path.getNameCount() - 1; i++) {
      Entry next = known(directory.now.get(path.getName(i).toString()), path);
      directory = (Directory) next;
    }
    return new Place(directory, path.getFileName().toString());
  }

  private static <T> T known(@Nullable T found, Object name) {
    if (found == null) {
      throw new IllegalStateException("the journal has something that is not in it: " + name);
    }
    return found;
  }

  /**
   * Cuts the power: from now on the process sees what the disk holds.
   *
   * @return what was done, for a reader
   */
  String cut(Random random) {
    return cut(Cut.Kind.any(random), random);
  }

  String cut(Cut.Kind kind, Random random) {
    List<StoredFile> files = new ArrayList<>();
    collect(root, files, new IdentityHashMap<>());
    long[] pending =
        LongStream.concat(
                renamings.stream().mapToLong(Renaming::time),
                files.stream().flatMapToLong(file -> Arrays.stream(file.times())))
            .sorted()
            .toArray();
    Cut cut =
        pending.length == 0
            ? new Cut(Cut.Kind.NOTHING, random, 0, 0)
            : new Cut(kind, random, pending[0], pending[pending.length - 1]);
    int names = renamings.size();
    apply(renamings.stream().filter(renaming -> cut.keeps(renaming.time())));
    String done =
        String.format(
            "%s of %d writes, %d of %d changes of names",
            kind.name().toLowerCase(Locale.ROOT),
            pending.length - names,
            names - renamings.size(),
            names);
    root = (Directory) survivor(root, cut, new IdentityHashMap<>());
    renamings.clear();
    handles.clear();
    syncs.clear();
    return done;
  }

  private static void collect(
      Directory directory, List<StoredFile> files, IdentityHashMap<Entry, Entry> seen) {
    for (Entry entry : directory.now.values()) {
      if (seen.put(entry, entry) == null) {
        if (entry instanceof Directory below) {
          collect(below, files, seen);
        } else {
          files.add((StoredFile) entry);
        }
      }
    }
  }

  private static Entry survivor(Entry entry, Cut cut, IdentityHashMap<Entry, Entry> survivors) {
    Entry before = survivors.get(entry);
    if (before != null) {
      return before;
    }
    if (entry instanceof StoredFile file) {
      StoredFile left = StoredFile.onDisk(file.after(cut));
      survivors.put(entry, left);
      return left;
    }
    Directory left = new Directory();
    survivors.put(entry, left);
    ((Directory) entry)
        .synced.forEach(
            (name, below) -> {
              Entry there = survivor(below, cut, survivors);
              left.now.put(name, there);
              left.synced.put(name, there);
            });
    return left;
  }

  /** Makes a directory what the process sees. Its own files are deleted. */
  void writeTo(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!file.equals(directory)) {
          Files.delete(file);
        }
      }
    }
    write(root, directory, new IdentityHashMap<>());
  }

  private static void write(Directory from, Path to, IdentityHashMap<Entry, Path> written)
      throws IOException {
    for (Map.Entry<String, Entry> named : from.now.entrySet()) {
      Path path = to.resolve(named.getKey());
      Path before = written.putIfAbsent(named.getValue(), path);
      if (named.getValue() instanceof Directory directory) {
        Files.createDirectory(path, OWN_DIRECTORY);
        write(directory, path, written);
      } else if (before != null) {
        Files.createLink(path, before);
      } else {
        Files.createFile(path, OWN_FILE);
        Files.write(path, ((StoredFile) named.getValue()).now());
      }
    }
  }

  /**
   * Returns the files that are not in a directory as the journal has them. There are some if the
   * process changes files in a way that the library does not see. A process that was killed may
   * have made one change for each of its threads that is not in the journal.
   */
  Set<String> differences(Path directory) throws IOException {
    Set<String> found = new TreeSet<>();
    compare(root, read(directory), "", found);
    return found;
  }

  private static void compare(
      Directory expected, Directory actual, String at, Set<String> differences) {
    Set<String> names = new TreeSet<>(expected.now.keySet());
    names.addAll(actual.now.keySet());
    for (String name : names) {
      Entry one = expected.now.get(name);
      Entry other = actual.now.get(name);
      if (one instanceof Directory directory && other instanceof Directory found) {
        compare(directory, found, at + name + "/", differences);
      } else if (!(one instanceof StoredFile file
          && other instanceof StoredFile found
          && Arrays.equals(file.now(), found.now()))) {
        differences.add(at + name);
      }
    }
  }
}
