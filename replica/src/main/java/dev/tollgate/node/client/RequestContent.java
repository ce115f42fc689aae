package dev.tollgate.node.client;

import dev.tollgate.core.command.Command;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireWriter;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * Recognizes a repeated request: 64 bits of all that a client may not change in a request, in the
 * bytes of the protocol. Left out is what a driver may change: whether it trusts its lease, and how
 * many rows it wants at a time. The bits are two checksums with different polynomials, both of
 * which the processor computes. If a client finds two requests with equal checksums, it harms only
 * itself.
 */
final class RequestContent {
  /** No transaction mode. */
  private static final int SERIES = 255;

  private final CRC32 first = new CRC32();
  private final CRC32C second = new CRC32C();

  private RequestContent() {}

  static long of(Request.Execute request) {
    RequestContent content = new RequestContent();
    WireWriter out = new WireWriter();
    request.mode().write(out);
    out.flag(request.batch()).string(request.sql());
    request.keys().write(out);
    out.i64(request.maxRows()).i32(request.parameterSets().size());
    content.add(out);
    for (byte[] set : request.parameterSets()) {
      out.clear();
      content.add(out.bytes(set));
    }
    return content.sum();
  }

  /** The same for a series, which starts with a byte that no other request starts with. */
  static long of(Request.ExecuteSeries request) {
    RequestContent content = new RequestContent();
    WireWriter out = new WireWriter();
    out.u8(SERIES);
    request.mode().write(out);
    request.ending().write(out);
    content.add(out.i32(request.statements().size()));
    for (Request.SeriesStatement statement : request.statements()) {
      out.clear();
      content.add(out.string(statement.sql()).bytes(statement.parameterSet()));
    }
    return content.sum();
  }

  private long sum() {
    long sum = first.getValue() << 32 | second.getValue();
    return sum == Command.Perform.UNKNOWN_CONTENT ? ~sum : sum;
  }

  private void add(WireWriter bytes) {
    first.update(bytes.array(), 0, bytes.size());
    second.update(bytes.array(), 0, bytes.size());
  }
}
