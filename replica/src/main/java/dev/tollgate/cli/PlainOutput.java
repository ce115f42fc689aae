package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

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
 * control character but the end of a line and the tabulator. Names of locks, owners and
 * applications reach a terminal in tables, and in messages of all kinds. Not thread-safe; the
 * PrintStream around it is.
 */
final class PlainOutput extends FilterOutputStream {
  private static final int DELETE = 0x7F;
  private static final int FIRST_OF_C1 = 0x80;
  private static final int LAST_OF_C1 = 0x9F;

  /** In UTF-8, the first byte of U+0080 to U+009F, whose second byte is the number. */
  private static final int BEFORE_C1 = 0xC2;

  private static final String OUT_CHARSET = "sun.stdout.encoding";
  private static final String ERR_CHARSET = "sun.stderr.encoding";

  private final boolean utf8;
  private boolean begun;

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
    if (begun) {
      begun = false;
      if (unit <= LAST_OF_C1) {
        out.write('?');
        return;
      }
      out.write(BEFORE_C1);
    }
    if (utf8 && unit == BEFORE_C1) {
      begun = true;
    } else {
      out.write(isControl(unit) ? '?' : unit);
    }
  }

  private boolean isControl(int unit) {
    return (unit < ' ' && unit != '\n' && unit != '\t')
        || unit == DELETE
        || (!utf8 && unit >= FIRST_OF_C1 && unit <= LAST_OF_C1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    byte[] plain = new byte[count];
    int length = 0;
    for (int i = from; i < from + count; i++) {
      // the bytes before one that needs a decision go out together
      if (begun || isControl(bytes[i] & 0xFF) || (bytes[i] & 0xFF) == BEFORE_C1) {
        out.write(plain, 0, length);
        length = 0;
        write(bytes[i]);
      } else {
        plain[length++] = bytes[i];
      }
    }
    out.write(plain, 0, length);
  }
}
