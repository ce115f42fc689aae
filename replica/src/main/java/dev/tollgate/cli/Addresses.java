package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Reads names and addresses of nodes, and rejects what is none with the option that has it. */
final class Addresses {
  private static final Pattern NODE_ID = Pattern.compile("[\\p{L}\\p{N}._-]{1,64}");

  private final CommandLine command;

  /**
   * @param command whose arguments are rejected
   */
  Addresses(CommandLine command) {
    this.command = requireNonNull(command, "command");
  }

  /** Looks the host of {@code host:port} up. */
  InetSocketAddress parse(String text) throws UnknownHostException {
    int port = port(text);
    String host = text.substring(0, text.lastIndexOf(':')).replaceAll("^\\[|]$", "");
    return new InetSocketAddress(InetAddress.getByName(host), port);
  }

  private int port(String text) {
    int colon = text.lastIndexOf(':');
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      if (colon <= 0 || port < 0 || port > 65_535) {
        throw new NumberFormatException(text);
      }
      return port;
    } catch (NumberFormatException e) {
      throw new ParameterException(command, "'" + text + "' is no address: write host:port", e);
    }
  }

  void requireName(String option, String name) {
    require(
        NODE_ID.matcher(name).matches(),
        option
            + ": '"
            + name
            + "' is no name of a node: write 1 to 64 letters, digits, dots, hyphens or"
            + " underscores");
  }

  /**
   * With port 0 the port would change at each start, and no other process could know it. Does not
   * look the host up: a peer that is away may have no address at the moment.
   */
  void requirePort(String option, String address) {
    require(
        port(address) > 0,
        option + ": '" + address + "' has port 0: write the port that others are to connect to");
  }

  /**
   * Reads a list of {@code id=host:port}. Rejects a list that names a node or an address twice.
   *
   * @return the addresses by the names of the nodes
   */
  Map<String, String> peers(List<String> list) {
    Map<String, String> addresses = new TreeMap<>();
    Map<String, String> ids = new TreeMap<>();
    for (String peer : list) {
      int equals = peer.indexOf('=');
      require(equals > 0, "--peers: '" + peer + "' is no node: write id=host:port,id=host:port");
      String name = peer.substring(0, equals);
      String address = peer.substring(equals + 1);
      requireName("--peers", name);
      requirePort("--peers", address);
      String before = addresses.put(name, address);
      require(before == null, "--peers has " + name + " twice: " + before + " and " + address);
      String other = ids.put(address, name);
      require(other == null, "--peers has " + other + " and " + name + " both at " + address);
    }
    return addresses;
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(command, otherwise);
    }
  }
}
