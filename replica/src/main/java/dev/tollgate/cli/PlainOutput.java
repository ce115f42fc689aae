package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.json.JsonText;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * Output on which nothing that a client has chosen can act: a question mark takes the place of each
 * character that is not plain ({@link JsonText#isPlain}) but the end of a line and the tabulator.
 * Names of locks, owners and applications reach a terminal in tables, and in messages of all kinds.
 * Not thread-safe; the PrintStream around it is.
 */
final class PlainOutput extends FilterOutputStream {
  private static final int FIRST_OF_MANY = 0x80;
  private static final int MOST_BYTES = 4;

  /** What bytes decode to that are no character. */
  private static final int MALFORMED = 0xFFFD;

  private static final String OUT_CHARSET = "sun.stdout.encoding";
  private static final String ERR_CHARSET = "sun.stderr.encoding";

  private final boolean utf8;

  /** The bytes so far of a character of UTF-8 that has more. */
  private final byte[] begun = new byte[MOST_BYTES];

  private int length;

  private PlainOutput(OutputStream out, boolean utf8) {
    super(requireNonNull(out, "out"));
    this.utf8 = utf8;
  }

  /** A stream for a terminal that takes this charset. */
  static PrintStream to(OutputStream out, Charset charset) {
    boolean utf8 = charset.equals(StandardCharsets.UTF_8);
    return new PrintStream(new PlainOutput(out, utf8), /* autoFlush= */ true, charset);
  }

  /** Standard output as it is, for a screen that is drawn with control characters. */
  static PrintWriter screen() {
    return new PrintWriter(
        new FileOutputStream(FileDescriptor.out), /* autoFlush= */ false, charset(OUT_CHARSET));
  }

  /** Makes standard output and standard error plain for all that is printed from now on. */
  static void install() {
    System.setOut(to(new FileOutputStream(FileDescriptor.out), charset(OUT_CHARSET)));
    System.setErr(to(new FileOutputStream(FileDescriptor.err), charset(ERR_CHARSET)));
  }

  /** As the runtime chooses it: a terminal may have a charset of its own. */
  private static Charset charset(String property) {
    String name = System.getProperty(property);
    return name == null ? Charset.defaultCharset() : Charset.forName(name);
  }

  @Override
  public void write(int b) throws IOException {
    int unit = b & 0xFF;
    if (!utf8 || (length == 0 && unit < FIRST_OF_MANY)) {
      out.write(isPlain(unit) ? unit : '?');
      return;
    }
    boolean continues = (unit & 0xC0) == 0x80;
    if (length > 0 && !continues) {
      length = 0;
      out.write('?');
      write(unit);
      return;
    }
    begun[length++] = (byte) unit;
    if (length >= bytesOfCharacter(begun[0])) {
      int point = new String(begun, 0, length, StandardCharsets.UTF_8).codePointAt(0);
      if (point != MALFORMED && isPlain(point)) {
        out.write(begun, 0, length);
      } else {
        out.write('?');
      }
      length = 0;
    }
  }

  private static int bytesOfCharacter(byte first) {
    int ones = Integer.numberOfLeadingZeros(~(first << 24));
    return Math.min(ones, MOST_BYTES);
  }

  private static boolean isPlain(int point) {
    return point == '\n' || point == '\t' || JsonText.isPlain(point);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    int begin = from;
    int end = from + count;
    for (int i = from; i < end; i++) {
      // the bytes before one that needs a decision go out together
      if (length > 0 || bytes[i] < 0 || !isPlain(bytes[i])) {
        out.write(bytes, begin, i - begin);
        write(bytes[i]);
        begin = i + 1;
      }
    }
    out.write(bytes, begin, end - begin);
  }
}
