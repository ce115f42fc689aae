package dev.tollgate.cli;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The option of a node about its admin address. */
final class AdminOptions {
  private static final int MOST_PORT = 65_535;

  @Option(
      names = "--admin-address",
      paramLabel = "[HOST:]PORT",
      description =
          "Where the node serves metrics, health and what helps to debug it over HTTP, to the users"
              + " of the cluster. A port alone listens on loopback. By default there is none."
              + " [TOLLGATE_ADMIN_ADDRESS]")
  private @Nullable String address;

  AdminOptions() {}

  /** Returns the address, or null for a node without one. */
  @Nullable InetSocketAddress address(CommandLine command) throws UnknownHostException {
    String text = address;
    if (text == null) {
      return null;
    }
    int colon = text.lastIndexOf(':');
    String host = text.substring(0, Math.max(colon, 0)).replaceAll("^\\[|]$", "");
    int port = port(text.substring(colon + 1));
    if (port < 1 || port > MOST_PORT || colon == 0) {
      throw new ParameterException(
          command,
          "--admin-address: '" + text + "' is no address: write host:port, or a port for loopback");
    }
    return new InetSocketAddress(
        host.isEmpty() ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host), port);
  }

  private static int port(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
