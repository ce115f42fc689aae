package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Whether the node can listen on a port, or listens there already. */
final class PortCheck implements Check {
  private static final int PATIENCE_MILLIS = 2_000;

  private final String subject;
  private final @Nullable InetSocketAddress address;
  private final BooleanSupplier runs;

  /**
   * @param address null if the node does not listen
   * @param runs whether the node runs now
   */
  PortCheck(String subject, @Nullable InetSocketAddress address, BooleanSupplier runs) {
    this.subject = requireNonNull(subject, "subject");
    this.address = address;
    this.runs = requireNonNull(runs, "runs");
  }

  @Override
  public String subject() {
    return subject;
  }

  @Override
  public List<Finding> run() {
    InetSocketAddress here = address;
    if (here == null) {
      return List.of(Finding.pass(subject, "the node has no other nodes"));
    }
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(here);
      return List.of(Finding.pass(subject, here + " is free"));
    } catch (IOException e) {
      if (!isTaken(here)) {
        return List.of(
            Finding.fail(
                subject,
                "cannot listen on " + here + ": " + e.getMessage(),
                "name an address of this host, and a port that its user may take"));
      }
      return List.of(
          runs.getAsBoolean()
              ? Finding.pass(subject, here + " is in use, and the node runs")
              : Finding.fail(
                  subject,
                  here + " is in use by another process",
                  "stop that process, or choose another port"));
    }
  }

  private static boolean isTaken(InetSocketAddress address) {
    try (Socket socket = new Socket()) {
      socket.connect(address, PATIENCE_MILLIS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
