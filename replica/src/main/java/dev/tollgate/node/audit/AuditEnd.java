package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How an audit file begins and ends.
 *
 * @param progress up to where in the log its lines go
 * @param wholeBytes of its whole lines
 * @param first the hash of the first line, or null if that line has none
 * @param chain of the last line that follows those before it; null if it has no hash, or there is
 *     none
 * @param keyId of the key of the first line; null if that line is not encrypted
 * @param faulty whether there are lines that were not believed
 */
record AuditEnd(
    AuditTarget.Progress progress,
    long wholeBytes,
    @Nullable String first,
    @Nullable AuditChain chain,
    @Nullable String keyId,
    boolean faulty) {
  private static final Logger LOG = LoggerFactory.getLogger(AuditEnd.class);
  private static final int BUFFER_BYTES = 1 << 16;

  /** The head of a line that says where in the log it stands; longer than any such head. */
  private static final int HEAD_BYTES = 300;

  private static final Pattern PLACE =
      Pattern.compile(
          "\\{\"time\":\"[^\"]*\",\"event\":\"[a-z_]+\"(?:,\"directory\":\"([^\"]*)\")?"
              + ",\"index\":(\\d+)(?:,\"ordinal\":(\\d+),\"number\":(\\d+))?,.*",
          Pattern.DOTALL);

  /** What is known of a file whose beginning alone is read. */
  record Beginning(@Nullable String first, @Nullable String before, @Nullable String keyId) {
    static final Beginning NONE = new Beginning(null, null, null);
  }

  /**
   * Reads a file up to the first line that may be one of this node; a file that is not there has
   * none.
   */
  static Beginning beginningOf(Path file, DataKeys keys) throws IOException {
    if (!Files.exists(file)) {
      return Beginning.NONE;
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
      byte[] line = nextLine(in);
      while (line != null && isForeign(line, keys)) {
        line = nextLine(in);
      }
      return line == null ? Beginning.NONE : beginning(file, line, keys);
    } catch (KeyMissingException e) {
      // an old file that nobody here can read does not keep a node from writing a new one
      return Beginning.NONE;
    }
  }

  private static Beginning beginning(Path file, byte[] line, DataKeys keys) throws IOException {
    String keyId = LineSeal.keyOf(line).orElse(null);
    byte[] text = openedOrNull(file, line, keys, /* known= */ false);
    AuditChain.Link link = text == null ? null : AuditChain.read(text);
    return link == null
        ? new Beginning(null, null, keyId)
        : new Beginning(link.chain(), link.before(), keyId);
  }

  /**
   * Reads a file to its end, and keeps little of it. Only lines that follow each other from the
   * first one on say where the file ends: any others are reported as an error and say nothing.
   */
  static AuditEnd of(Path file, DataKeys keys, OwnLog log) throws IOException {
    Walk walk = new Walk(file, keys, log);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
      for (byte[] line = nextLine(in); line != null; line = nextLine(in)) {
        walk.take(line);
      }
    }
    walk.report();
    return walk.end();
  }

  /** The way along the lines of a file. */
  private static final class Walk {
    private final Path file;
    private final DataKeys keys;
    private final OwnLog log;
    private AuditTarget.Progress progress = AuditTarget.Progress.NONE;
    private Beginning beginning = Beginning.NONE;
    private @Nullable AuditChain chain;

    /** The hash of the last line in the clear, if the lines should be encrypted. */
    private @Nullable AuditChain clear;

    private boolean begun;
    private long wholeBytes;
    private long lines;
    private long faults;
    private long firstFault;
    private String fault = "";

    Walk(Path file, DataKeys keys, OwnLog log) {
      this.file = file;
      this.keys = keys;
      this.log = log;
    }

    void take(byte[] line) throws IOException {
      lines++;
      wholeBytes += line.length + 1;
      if (isForeign(line, keys)) {
        AuditChain.Link link = AuditChain.read(line);
        clear = link == null ? null : new AuditChain(link.chain());
        fault("is not encrypted, although this node has data keys");
        return;
      }
      byte[] text = openedOrNull(file, line, keys, /* known= */ begun);
      if (text == null) {
        fault("was altered: it is not what was encrypted");
        return;
      }
      AuditChain.Link link = AuditChain.read(text);
      if (!follows(link)) {
        fault("does not follow the line before it: its hash is another one, or missing");
        return;
      }
      if (!begun) {
        begun = true;
        beginning = beginning(file, line, keys);
      }
      chain = link == null ? null : new AuditChain(link.chain());
      AuditTarget.Progress next =
          after(progress, new String(text, 0, Math.min(text.length, HEAD_BYTES), ISO_8859_1));
      if (log.mayHave(next)) {
        progress = next;
      } else {
        fault(
            "names the log entry "
                + next.position().logIndex()
                + ", and the log of this node ended with "
                + log.lastIndex());
      }
    }

    /** Without hashes are whole files alone, which a version without them has written. */
    private boolean follows(AuditChain.@Nullable Link link) {
      AuditChain last = chain;
      if (begun) {
        return link == null ? last == null : last != null && last.fits(link);
      }
      if (link == null) {
        return !keys.isOn();
      }
      String before = link.before();
      return before != null && new AuditChain(before).fits(link);
    }

    private void fault(String what) {
      if (faults++ == 0) {
        firstFault = lines;
        fault = what;
      }
    }

    void report() {
      if (faults > 0) {
        LOG.error(
            "{}: line {} {}. {} of its {} lines are not believed: the node goes on after the others,"
                + " in another file. Find out who can write to the file, and check it with"
                + " `tollgate audit verify`",
            file,
            firstFault,
            fault,
            faults,
            lines);
      }
    }

    AuditEnd end() {
      // a file in the clear, from before this node had keys, is followed, and tells nothing else
      AuditChain last = begun ? chain : clear;
      return new AuditEnd(
          progress, wholeBytes, beginning.first(), last, beginning.keyId(), faults > 0);
    }
  }

  /**
   * True for a line in the clear if the node has data keys. A writer to the disk who lacks the keys
   * can write such a line, so nothing that it says is believed.
   */
  static boolean isForeign(byte[] line, DataKeys keys) {
    return keys.isOn() && !LineSeal.isSealed(line);
  }

  /** The next whole line without its end; null if there is none. Longer lines than any come too. */
  static byte @Nullable [] nextLine(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(1 << 10);
    for (int next = in.read(); next >= 0; next = in.read()) {
      if (next == '\n') {
        return line.toByteArray();
      }
      line.write(next);
    }
    return null;
  }

  /**
   * Returns null for a line that was altered.
   *
   * @param known whether the key of the file is known, so that a line with another key was altered
   */
  private static byte @Nullable [] openedOrNull(
      Path file, byte[] line, DataKeys keys, boolean known) throws IOException {
    try {
      return LineSeal.open(keys, "a line of " + file, line);
    } catch (AlteredException e) {
      return null;
    } catch (KeyMissingException e) {
      if (known) {
        return null;
      }
      throw e;
    }
  }

  private static AuditTarget.Progress after(AuditTarget.Progress before, String line) {
    Matcher place = PLACE.matcher(line);
    if (!place.matches()) {
      return before;
    }
    try {
      long logIndex = Long.parseLong(place.group(2));
      AuditPosition position =
          place.group(3) == null
              ? AuditPosition.endOf(logIndex)
              : new AuditPosition(
                  logIndex, Integer.parseInt(place.group(3)), Integer.parseInt(place.group(4)));
      return new AuditTarget.Progress(
          place.group(1) == null ? before.directory() : place.group(1), position);
    } catch (NumberFormatException e) {
      // no line of a node has such numbers
      return before;
    }
  }
}
