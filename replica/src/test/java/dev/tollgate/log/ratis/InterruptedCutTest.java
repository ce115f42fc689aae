package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.DirectoryKeys;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Segments as a stop within a cut, or within the step from one segment to the next, leaves them.
 */
class InterruptedCutTest {
  @TempDir Path directory;

  /**
   * @param files names, each with the last entry that is in the file
   * @param synced the record
   * @param left the names afterwards
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "whole                    | log_0-3:3 log_inprogress_4:5             | 5 | log_0-3 log_inprogress_4",
        "nothing recorded later   | log_0-3:3 log_inprogress_4:5             | 1 | log_0-3 log_inprogress_4",
        "without an open one      | log_0-3:3                                | 3 | log_0-3",
        "shortened, not renamed   | log_0-3:2                                | 2 | log_0-2",
        "emptied, not renamed     | log_0-3:3 log_4-6:3                      | 3 | log_0-3",
        "shortened, more to go    | log_0-3:2 log_4-6:6 log_inprogress_7:7   | 2 | log_0-2",
        "one of two is gone       | log_0-3:3 log_inprogress_6:7             | 2 | log_0-3",
        "the first is gone        | log_0-3:3 log_6-7:7 log_inprogress_8:8   | 3 | log_0-3",
        "deletion was not kept    | log_0-2:2 log_inprogress_4:5             | 2 | log_0-2",
        "cut in vain, went on     | log_inprogress_0:5 log_inprogress_4:3    | 3 | log_inprogress_0",
        "two open ones            | log_inprogress_0:3 log_inprogress_4:4    | 4 | log_0-3 log_inprogress_4",
        "two open ones, one empty | log_inprogress_0:3 log_inprogress_4:3    | 3 | log_0-3 log_inprogress_4",
        "empty before a full one  | log_0-3:3 log_inprogress_4:3 log_inprogress_5:6 | 3 | log_0-3 log_inprogress_4",
        "cut again at the start   | log_0-3:5 log_inprogress_4:5             | 5 | log_0-3 log_inprogress_4",
      })
  void cutIsFinished(String what, String files, long synced, String left) throws IOException {
    write(files);
    InterruptedCut.finish(directory, OptionalLong.of(synced));
    assertEquals(List.of(left.split(" ", -1)), names());
    LogCheck.run(directory, null, new SealedEntries(DirectoryKeys.off(), directory));
    assertFalse(InterruptedCut.finish(directory, OptionalLong.of(synced)));
    assertEquals(List.of(left.split(" ", -1)), names(), "a second time");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "log_0-3:2                               | 3",
        "log_0-3:3 log_inprogress_6:7            | 5",
        "log_0-3:3 log_inprogress_6:7            | 4",
        "log_0-2:2 log_inprogress_4:5            | 5",
        "log_0-3:2 log_4-6:6 log_inprogress_7:7  | 7",
        "log_0-3:2                               | none",
        "log_0-3:3 log_inprogress_6:7            | none",
      })
  void lostEntriesThatWereSyncedStayDamage(String files, String synced) throws IOException {
    write(files);
    List<String> before = names();
    assertFalse(
        InterruptedCut.finish(
            directory,
            synced.equals("none")
                ? OptionalLong.empty()
                : OptionalLong.of(Long.parseLong(synced))));
    assertEquals(before, names());
    assertThrows(
        CorruptLogException.class,
        () -> LogCheck.run(directory, null, new SealedEntries(DirectoryKeys.off(), directory)));
  }

  private void write(String files) throws IOException {
    for (String file : files.split(" +", -1)) {
      String name = file.substring(0, file.indexOf(':'));
      long last = Long.parseLong(file.substring(file.indexOf(':') + 1));
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write("RaftLog1".getBytes(StandardCharsets.US_ASCII));
      for (long i = Snapshots.firstIndex(Path.of(name)); i <= last; i++) {
        out.write(LogTailTest.entry(1, i, 200));
      }
      Files.write(directory.resolve(name), out.toByteArray());
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
