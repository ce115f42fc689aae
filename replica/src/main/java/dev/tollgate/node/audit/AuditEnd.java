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
 * @param chain null if the last whole line has no hash, or there is none
 * @param keyId of the key of the first line; null if that line is not encrypted
 */
record AuditEnd(
    AuditTarget.Progress progress,
    long wholeBytes,
    @Nullable String first,
    @Nullable AuditChain chain,
    @Nullable String keyId) {
  private static final Logger LOG = LoggerFactory.getLogger(AuditEnd.class);
  private static final int BUFFER_BYTES = 1 << 16;

  /** The head of a line that says where in the log it stands; longer than any such head. */
  private static final int HEAD_BYTES = 300;

  private static final Pattern PLACE =
      Pattern.compile(
          "\\{\"time\":\"[^\"]*\",\"event\":\"[a-z_]+\"(?:,\"directory\":\"([^\"]*)\")?"
              + ",\"index\":(\\d+)(?:,\"ordinal\":(\\d+),\"number\":(\\d+))?,.*",
          Pattern.DOTALL);

  /** What is known of a file whose first line alone is read. */
  record Beginning(@Nullable String first, @Nullable String before, @Nullable String keyId) {
    static final Beginning NONE = new Beginning(null, null, null);
  }

  /** Reads the first line of a file; a file that is not there has none. */
  static Beginning beginningOf(Path file, DataKeys keys) throws IOException {
    if (!Files.exists(file)) {
      return Beginning.NONE;
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
      byte[] line = nextLine(in);
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

  /** Reads a file to its end, and keeps little of it. */
  static AuditEnd of(Path file, DataKeys keys) throws IOException {
    AuditTarget.Progress progress = AuditTarget.Progress.NONE;
    Beginning beginning = Beginning.NONE;
    long whole = 0;
    AuditChain chain = null;
    long number = 0;
    long foreigners = 0;
    long firstForeigner = 0;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
      for (byte[] line = nextLine(in); line != null; line = nextLine(in)) {
        number++;
        boolean foreign = isForeign(line, beginning.keyId());
        if (foreign && foreigners++ == 0) {
          firstForeigner = number;
        }
        byte[] text =
            foreign ? null : openedOrNull(file, line, keys, /* known= */ beginning.first() != null);
        AuditChain.Link link = text == null ? null : AuditChain.read(text);
        chain = link == null ? null : new AuditChain(link.chain());
        if (text != null) {
          progress =
              after(progress, new String(text, 0, Math.min(text.length, HEAD_BYTES), ISO_8859_1));
        }
        if (whole == 0) {
          beginning = beginning(file, line, keys);
        }
        whole += line.length + 1;
      }
    }
    if (foreigners > 0) {
      LOG.error(
          "{} begins encrypted and has lines that are not: {}, the first is line {}. No node has"
              + " written them, and they are skipped. Find out who can write to the file, and check"
              + " it with `tollgate audit verify`",
          file,
          foreigners,
          firstForeigner);
    }
    return new AuditEnd(progress, whole, beginning.first(), chain, beginning.keyId());
  }

  /**
   * True for a line in the clear in a file that begins encrypted. Who lacks the key can write such
   * a line, so nothing that it says is taken for true.
   *
   * @param keyId of the key of the first line; null if that line is not encrypted
   */
  static boolean isForeign(byte[] line, @Nullable String keyId) {
    return keyId != null && !LineSeal.isSealed(line);
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
   * Returns null for a line that was altered: {@link AuditCheck} finds it, and no start does.
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
