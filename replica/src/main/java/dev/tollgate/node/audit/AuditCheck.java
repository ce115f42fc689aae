package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.tollgate.seal.AlteredException;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.LineSeal;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks audit files against their hashes. FILE.2, FILE.1 and FILE are one chain; files of other
 * names are other chains. Reads each file once, a line at a time.
 */
public final class AuditCheck {
  /** Longer than any line of a node, whose texts are cut; encrypted, such a line is longer. */
  private static final int LINE_BYTES = 1 << 18;

  private static final int BUFFER_BYTES = 1 << 16;

  private final @Nullable String wanted;
  private final DataKeys keys;
  private final Consumer<String> fitting;
  private boolean found;

  /**
   * @param wanted a hash that one of the lines has to have, or null
   * @param keys of encrypted lines
   */
  public AuditCheck(@Nullable String wanted, DataKeys keys) {
    this(wanted, keys, line -> {});
  }

  /**
   * @param fitting is told of each line that fits, in order
   */
  public AuditCheck(@Nullable String wanted, DataKeys keys, Consumer<String> fitting) {
    this.wanted = wanted;
    this.keys = requireNonNull(keys, "keys");
    this.fitting = requireNonNull(fitting, "fitting");
  }

  /** True for what can be a hash of a line. */
  public static boolean isHash(String text) {
    return AuditChain.isHash(text);
  }

  /**
   * The first line that does not fit.
   *
   * @param line its number in its file, from 1
   * @param meaning what that means, in whole sentences
   */
  public record Fault(Path file, long line, String meaning) {}

  /**
   * What was found out about files that follow each other.
   *
   * @param files from the oldest to the newest
   * @param lines how many lines fit, up to the fault if there is one
   * @param before the hash of the line before the first one, or null if the chain begins here
   * @param last the hash of the last line that fits, or null if none does
   * @param fault null if all lines fit
   * @param tornBytes of a last line that was not written to its end; 0 if there is none
   */
  public record Found(
      List<Path> files,
      long lines,
      @Nullable String before,
      @Nullable String last,
      @Nullable Fault fault,
      long tornBytes) {}

  /** True if one of the lines that fit has the wanted hash, or none was wanted. */
  public boolean hasWanted() {
    return wanted == null || found;
  }

  /**
   * Checks files.
   *
   * @param files in any order
   * @return an entry for each chain
   * @throws IOException if a file cannot be read, or a key is missing
   */
  public List<Found> check(List<Path> files) throws IOException {
    List<Found> all = new ArrayList<>();
    for (List<Path> chain : chains(files)) {
      all.add(checkChain(chain));
    }
    return all;
  }

  private static Iterable<List<Path>> chains(List<Path> files) {
    Map<String, List<Path>> chains = new TreeMap<>();
    for (Path file : files) {
      chains.computeIfAbsent(nameOf(file), any -> new ArrayList<>()).add(file);
    }
    for (List<Path> chain : chains.values()) {
      chain.sort(Comparator.comparingInt(AuditCheck::numberOf).reversed());
    }
    return chains.values();
  }

  /** The name without the number that a file has got when the next one began. */
  private static String nameOf(Path file) {
    return file.toString().replaceFirst("\\.\\d{1,4}$", "");
  }

  private static int numberOf(Path file) {
    String rest = file.toString().substring(nameOf(file).length());
    return rest.isEmpty() ? 0 : Integer.parseInt(rest.substring(1));
  }

  private Found checkChain(List<Path> files) throws IOException {
    Walk walk = new Walk();
    for (Path file : files) {
      walk.read(file);
      if (walk.fault != null) {
        break;
      }
    }
    return new Found(
        files,
        walk.lines,
        AuditChain.BEGINNING.last().equals(walk.before) ? null : walk.before,
        walk.chain == null ? null : walk.chain.last(),
        walk.fault,
        walk.tornBytes);
  }

  /** The way along the lines of one chain. */
  private final class Walk {
    private @Nullable AuditChain chain;
    private @Nullable String before;
    private @Nullable Fault fault;
    private @Nullable Path last;
    private long lines;
    private long tornBytes;
    private boolean encrypted;

    void read(Path file) throws IOException {
      if (tornBytes > 0) {
        fault =
            new Fault(
                requireNonNull(last, "last"),
                linesIn(requireNonNull(last, "last")) + 1,
                "the line has no end, although another file follows: its end was cut off, because a"
                    + " node closes a file with a whole line");
        return;
      }
      last = file;
      long number = 0;
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
        for (int next = in.read(); next >= 0 && fault == null; next = in.read()) {
          if (next != '\n') {
            line.write(next);
            if (line.size() > LINE_BYTES) {
              fault = new Fault(file, number + 1, "the line is longer than any that a node writes");
            }
          } else {
            number++;
            String wrong = take(file, line.toByteArray(), number == 1);
            if (wrong != null) {
              fault = new Fault(file, number, wrong);
            }
            line.reset();
          }
        }
      }
      tornBytes = line.size();
    }

    private long linesIn(Path file) throws IOException {
      long count = 0;
      try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
        for (int next = in.read(); next >= 0; next = in.read()) {
          count += next == '\n' ? 1 : 0;
        }
      }
      return count;
    }

    /** Returns what is wrong with the line, or null. */
    private @Nullable String take(Path file, byte[] stored, boolean begins) throws IOException {
      boolean sealed = LineSeal.isSealed(stored);
      if (encrypted && !sealed) {
        return "the line is not encrypted, although a line before it is: it was added or altered"
            + " without the key";
      }
      encrypted = sealed;
      byte[] bytes;
      try {
        bytes = LineSeal.open(keys, "a line of " + file, stored);
      } catch (AlteredException e) {
        return "the line was altered: it is not what was encrypted";
      } catch (KeyMissingException e) {
        if (begins) {
          throw e;
        }
        return "the line was altered: it names another key than the lines before it in this file";
      }
      AuditChain.Link line = AuditChain.read(bytes);
      if (line == null) {
        return "the line has no hash: it was altered or added, or a version without hashes wrote it";
      }
      if (begins) {
        String wrong = begin(line);
        if (wrong != null) {
          return wrong;
        }
      }
      AuditChain so = requireNonNull(chain, "chain");
      if (!so.fits(line)) {
        return begins
            ? "the line was altered: its hash is not that of its text"
            : "the line was altered, or lines before it were removed, added or moved: its hash is"
                + " not that of the line before it and of its own text";
      }
      chain = new AuditChain(line.chain());
      lines++;
      found |= line.chain().equals(wanted);
      fitting.accept(new String(bytes, UTF_8));
      return null;
    }

    private @Nullable String begin(AuditChain.Link line) {
      String said = line.before();
      if (said == null) {
        return "the line does not say which line comes before the file: the lines before it in this"
            + " file were removed";
      }
      if (chain == null) {
        before = said;
        chain = new AuditChain(said);
        return null;
      }
      return chain.last().equals(said)
          ? null
          : "the line does not follow the last line of the file before: a file between the two is"
              + " missing, or the last lines of the file before were removed or altered";
    }
  }
}
