package dev.tollgate.node.admin;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;

/** A stream to a client that has to take each piece in time. */
final class GuardedStream extends FilterOutputStream {
  private final SlowClients slow;
  private final Duration each;

  GuardedStream(OutputStream out, SlowClients slow, Duration each) {
    super(out);
    this.slow = slow;
    this.each = each;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    slow.within(
        each,
        () -> {
          out.write(bytes, from, length);
          return true;
        });
  }

  @Override
  public void flush() throws IOException {
    slow.within(
        each,
        () -> {
          out.flush();
          return true;
        });
  }

  /** The stream below stays open: {@link AdminServer} closes it. */
  @Override
  public void close() throws IOException {
    flush();
  }
}
