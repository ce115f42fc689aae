package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * How long the disk takes until what is written is safe. A node answers no write before that, so
 * this is the least time of a commit. Writes a file of 512 KiB into the directory, or into the one
 * above if there is no directory yet, and deletes the file.
 */
final class DiskCheck implements Check {
  private static final int BLOCK = 4_096;
  private static final int BLOCKS = 128;
  private static final Duration MOST = Duration.ofSeconds(5);

  /** Beyond that, tens of commits a second are all that one client gets. */
  private static final double WARN_MILLIS = 10;

  /** The vote of the candidate, that of a voter, and as much again for what else is written. */
  private static final int SYNCS_OF_AN_ELECTION = 4;

  private final Path data;
  private final Duration electionTimeout;

  DiskCheck(Path data, Duration electionTimeout) {
    this.data = requireNonNull(data, "data");
    this.electionTimeout = requireNonNull(electionTimeout, "electionTimeout");
  }

  @Override
  public String subject() {
    return "disk";
  }

  @Override
  public List<Finding> run() throws IOException {
    return List.of(judge(measure(DirectoryCheck.existing(data))));
  }

  /** Returns the times of the syncs in nanoseconds, at least one. */
  private static long[] measure(Path directory) throws IOException {
    Path file = Files.createTempFile(directory, "tollgate-doctor", ".tmp");
    try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer block = ByteBuffer.allocate(BLOCK);
      // like the segments of the log, the file has its size before it is written
      out.write(ByteBuffer.allocate(BLOCK * BLOCKS));
      out.force(true);
      long[] nanos = new long[BLOCKS];
      long begin = System.nanoTime();
      int done = 0;
      while (done < BLOCKS && (done == 0 || System.nanoTime() - begin < MOST.toNanos())) {
        block.clear();
        block.putInt(0, done + 1);
        long before = System.nanoTime();
        out.write(block, (long) done * BLOCK);
        out.force(false);
        nanos[done++] = System.nanoTime() - before;
      }
      return Arrays.copyOf(nanos, done);
    } finally {
      Files.deleteIfExists(file);
    }
  }

  Finding judge(long[] nanos) {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    double median = sorted[sorted.length / 2] / 1e6;
    double slow = sorted[(sorted.length * 99 - 1) / 100] / 1e6;
    double worst = sorted[sorted.length - 1] / 1e6;
    String fact =
        String.format(
            Locale.ROOT,
            "%d syncs of 4 KiB: median %.2f ms, 99%% within %.2f ms, longest %.2f ms",
            sorted.length,
            median,
            slow,
            worst);
    String disk =
        "put --data onto a disk of the host that nothing else writes to; an SSD takes 1 to 3 ms";
    String both =
        disk
            + ". Or raise --election-timeout from "
            + electionTimeout.toMillis()
            + " to "
            + (long) Math.ceil(slow * SYNCS_OF_AN_ELECTION / 100) * 100
            + " on all nodes: each vote is a sync";
    if (median > electionTimeout.toMillis()) {
      return Finding.fail(subject(), fact, both);
    }
    if (slow * SYNCS_OF_AN_ELECTION > electionTimeout.toMillis()) {
      return Finding.warn(subject(), fact, both);
    }
    return slow > WARN_MILLIS ? Finding.warn(subject(), fact, disk) : Finding.pass(subject(), fact);
  }
}
